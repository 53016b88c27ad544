#include <adrt/adrt_arg_group.h>

#include <cstring>

#include "core/errors.h"
#include "core/launch.h"

// Arguments that plans share. A plan that was made with groups holds them, and they know it, so that an
// argument of a group goes on to its plans; the plan leaves them when it goes.

using adrt::Fail;

namespace adrt {
namespace {

constexpr size_t kMostValue = 128;  // mat<f64, 4, 4>

/// An argument as the group has it.
struct GroupArg {
  explicit GroupArg(const artifact::Allocator* allocator) : name(allocator) {}

  /// The argument for a plan: it lives as long as this stays where it is.
  adrt_arg Given() const {
    adrt_arg given = arg;
    given.name = name.c_str();
    if (is_copied) given.data = const_cast<unsigned char*>(value);
    return given;
  }

  adrt_arg arg = {};  ///< without name and, where that is copied, data
  String name;
  bool is_copied = false;  ///< `data` points to `value`
  alignas(8) unsigned char value[kMostValue] = {};
};

/// adrt_launch_plan::groups.
struct PlanGroups {
  explicit PlanGroups(const artifact::Allocator* allocator) : list(allocator) {}
  Vector<adrt_arg_group*> list;  ///< retained
};

}  // namespace
}  // namespace adrt

struct adrt_arg_group {
  explicit adrt_arg_group(const adrt::Host& from)
      : host(from),
        args(&host.allocator),
        before(&host.allocator),
        given(&host.allocator),
        plans(&host.allocator) {}

  adrt::Count count;
  adrt::Host host;
  adrt_device* device = nullptr;  ///< retained
  adrt::Vector<adrt::GroupArg> args;
  adrt::Vector<adrt::GroupArg> before;  ///< while they are updated: the earlier values of the updated ones
  adrt::Vector<adrt_arg> given;         ///< for one plan
  adrt::Vector<adrt_launch_plan*> plans;
};

namespace adrt {
namespace {

GroupArg* Find(Vector<GroupArg>& args, std::string_view name) {
  for (GroupArg& one : args) {
    if (one.name.view() == name) return &one;
  }
  return nullptr;
}

bool HasParam(const artifact::KernelMeta& kernel, std::string_view name) {
  for (const artifact::ParamMeta& param : kernel.params) {
    if (param.name.view() == name) return true;
  }
  return false;
}

/// Copies what the argument points to, where that is the caller's only for the call.
bool Take(const adrt_arg_group& group, const adrt_arg& from, GroupArg& to, adrt_error* error) {
  size_t bytes = group.device->kind->data_bytes;
  if (from.kind == ADRT_PARAM_SCALAR) {
    uint64_t rows = from.rows == 0 ? 1 : from.rows, columns = from.columns == 0 ? 1 : from.columns;
    uint64_t most = kMostValue;
    if (rows > most || columns > most || rows * columns * adrt_type_size(from.type) > most) {
      return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group: '", to.name.view(), "': a scalar has at most ",
                    most, " bytes");
    }
    bytes = static_cast<size_t>(rows * columns * adrt_type_size(from.type));
  }
  to.arg = from;
  to.is_copied = bytes > 0 && from.data;
  if (to.is_copied) std::memcpy(to.value, from.data, bytes);
  return true;
}

/// The arguments of a caller's array, whose elements may be smaller than this version's.
bool Read(const adrt_arg* args, uint32_t index, adrt_arg* arg, adrt_error* error) {
  if (!CopyElement(args, index, arg))
    return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group: argument ", index, ": ", kNotSet);
  if (arg->name) return true;
  return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group: argument ", index,
                " has no name: a group knows arguments by their names alone");
}

bool Fill(adrt_arg_group& group, const adrt_arg* args, uint32_t arg_count, adrt_error* error) {
  for (uint32_t index = 0; index < arg_count; ++index) {
    adrt_arg arg = {};
    if (!Read(args, index, &arg, error)) return false;
    if (Find(group.args, arg.name))
      return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group: '", arg.name, "' is given twice");
    GroupArg made(&group.host.allocator);
    if (!made.name.TryAppend(arg.name)) return OutOfMemory(error) == ADRT_OK;
    if (!Take(group, arg, made, error)) return false;
    if (!group.args.TryPush(std::move(made))) return OutOfMemory(error) == ADRT_OK;
  }
  return true;
}

/// Appends the arguments among `args` that are for the kernel to `given`.
bool Gather(const Vector<GroupArg>& args, const artifact::KernelMeta& kernel, Vector<adrt_arg>& given) {
  for (const GroupArg& one : args) {
    if (HasParam(kernel, one.name.view()) && !given.TryPush(one.Given())) return false;
  }
  return true;
}

/// Takes a plan out of its groups.
void Leave(adrt_launch_plan& plan) {
  PlanGroups* groups = static_cast<PlanGroups*>(plan.groups);
  for (adrt_arg_group* group : groups->list) {
    size_t left = 0;
    for (adrt_launch_plan* one : group->plans) {
      if (one != &plan) group->plans[left++] = one;
    }
    while (group->plans.size() > left) group->plans.pop_back();
    adrt_arg_group_release(group);
  }
  plan.groups = nullptr;
  Delete(plan.host.allocator, groups);
}

bool Enter(adrt_launch_plan& plan, adrt_arg_group* const* groups, uint32_t group_count, adrt_error* error) {
  PlanGroups* made = New<PlanGroups>(plan.host.allocator, &plan.host.allocator);
  if (!made) return OutOfMemory(error) == ADRT_OK;
  plan.groups = made;
  plan.leave_groups = Leave;
  for (uint32_t index = 0; index < group_count; ++index) {
    if (!made->list.TryPush(groups[index])) return OutOfMemory(error) == ADRT_OK;
    adrt_arg_group_retain(groups[index]);
    if (!groups[index]->plans.TryPush(&plan)) return OutOfMemory(error) == ADRT_OK;
  }
  return true;
}

bool MakePlan(const adrt_kernel& kernel, const adrt_plan_desc& desc, adrt_arg_group* const* groups,
              uint32_t group_count, adrt_launch_plan** plan, adrt_error* error) {
  Vector<adrt_arg> given(&groups[0]->host.allocator);
  for (uint32_t index = 0; index < desc.arg_count; ++index) {
    adrt_arg arg = {};
    if (!CopyElement(desc.args, index, &arg)) {
      return Refuse(error, ADRT_ERROR_ARGUMENT, "plan_grouped: argument ", index, ": ", kNotSet);
    }
    arg.struct_size = sizeof arg;
    if (!given.TryPush(arg)) return OutOfMemory(error) == ADRT_OK;
  }
  for (uint32_t index = 0; index < group_count; ++index) {
    if (!Gather(groups[index]->args, *kernel.meta, given)) return OutOfMemory(error) == ADRT_OK;
  }
  for (adrt_arg& arg : given) arg.struct_size = sizeof arg;
  adrt_plan_desc whole = desc;
  whole.args = given.data();
  whole.arg_count = static_cast<uint32_t>(given.size());
  adrt_launch_plan* made = nullptr;
  if (adrt_plan(&kernel, &whole, &made, error) != ADRT_OK) return false;
  if (!Enter(*made, groups, group_count, error)) {
    adrt_plan_release(made);
    return false;
  }
  *plan = made;
  return true;
}

/// Gives a plan those of `args` that it has parameters for.
bool UpdatePlan(adrt_arg_group& group, const Vector<GroupArg>& args, adrt_launch_plan& plan,
                adrt_error* error) {
  group.given.clear();
  if (!Gather(args, plan.meta(), group.given)) return OutOfMemory(error) == ADRT_OK;
  for (adrt_arg& arg : group.given) arg.struct_size = sizeof arg;
  return group.given.empty() || adrt_plan_update(&plan, group.given.data(),
                                                 static_cast<uint32_t>(group.given.size()), error) == ADRT_OK;
}

/// Puts what `before` holds back into the group.
void Restore(adrt_arg_group& group) {
  for (GroupArg& was : group.before) {
    GroupArg* now = Find(group.args, was.name.view());
    now->arg = was.arg;
    now->is_copied = was.is_copied;
    std::memcpy(now->value, was.value, sizeof now->value);
  }
}

/// Takes the arguments into the group; `before` has what they were.
bool TakeAll(adrt_arg_group& group, const adrt_arg* args, uint32_t arg_count, adrt_error* error) {
  for (uint32_t index = 0; index < arg_count; ++index) {
    adrt_arg arg = {};
    if (!Read(args, index, &arg, error)) return false;
    GroupArg* there = Find(group.args, arg.name);
    if (!there)
      return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group_update: the group has no argument '", arg.name,
                    "'");
    if (Find(group.before, arg.name))
      return Refuse(error, ADRT_ERROR_ARGUMENT, "arg_group_update: '", arg.name, "' is given twice");
    GroupArg was(&group.host.allocator);
    was.arg = there->arg;
    was.is_copied = there->is_copied;
    std::memcpy(was.value, there->value, sizeof was.value);
    if (!was.name.TryAppend(arg.name) || !group.before.TryPush(std::move(was)))
      return OutOfMemory(error) == ADRT_OK;
    if (!Take(group, arg, *there, error)) return false;
  }
  return true;
}

/// The updated arguments alone, as the group has them now, for its plans.
bool UpdatePlans(adrt_arg_group& group, adrt_error* error) {
  Vector<GroupArg> now(&group.host.allocator);
  for (const GroupArg& was : group.before) {
    const GroupArg& there = *Find(group.args, was.name.view());
    GroupArg copy(&group.host.allocator);
    copy.arg = there.arg;
    copy.is_copied = there.is_copied;
    std::memcpy(copy.value, there.value, sizeof copy.value);
    if (!copy.name.TryAppend(was.name.view()) || !now.TryPush(std::move(copy)))
      return OutOfMemory(error) == ADRT_OK;
  }
  for (size_t index = 0; index < group.plans.size(); ++index) {
    if (UpdatePlan(group, now, *group.plans[index], error)) continue;
    // The earlier plans take their old arguments again: these were good.
    adrt_error passed = {};
    while (index-- > 0) UpdatePlan(group, group.before, *group.plans[index], DetailsOf(nullptr, &passed));
    return false;
  }
  return true;
}

bool Update(adrt_arg_group& group, const adrt_arg* args, uint32_t arg_count, adrt_error* error) {
  group.before.clear();
  if (TakeAll(group, args, arg_count, error) && UpdatePlans(group, error)) return true;
  Restore(group);
  return false;
}

}  // namespace
}  // namespace adrt

adrt_status adrt_arg_group_create(adrt_device* device, const adrt_arg* args, uint32_t arg_count,
                                  adrt_arg_group** group, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !group || (!args && arg_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "arg_group_create: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt_arg_group* made = adrt::New<adrt_arg_group>(device->host.allocator, device->host);
  if (!made) return adrt::OutOfMemory(error);
  adrt_device_retain(device);
  made->device = device;
  if (!adrt::Fill(*made, args, arg_count, details)) {
    adrt_arg_group_release(made);
    return details->status;
  }
  *group = made;
  return ADRT_OK;
}

void adrt_arg_group_retain(adrt_arg_group* group) {
  adrt::Alive(__func__, group);
  if (group) group->count.Retain();
}

void adrt_arg_group_release(adrt_arg_group* group) {
  adrt::Alive(__func__, group);
  if (!group || !group->count.Release()) return;
  adrt_device* device = group->device;
  adrt::Delete(group->host.allocator, group);
  adrt_device_release(device);
}

adrt_status adrt_plan_grouped(const adrt_kernel* kernel, const adrt_plan_desc* desc,
                              adrt_arg_group* const* groups, uint32_t group_count, adrt_launch_plan** plan,
                              adrt_error* error) {
  adrt::Alive(__func__, kernel);
  if (!kernel || !desc || !groups || group_count == 0 || !plan)
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_grouped: null argument, or no group");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt_plan_desc wanted = {};
  if (!adrt::CopyDescriptor(desc, &wanted) || (!wanted.args && wanted.arg_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_grouped: ", adrt::kNotSet, ", or args are null");
  wanted.struct_size = sizeof wanted;
  for (uint32_t index = 0; index < group_count; ++index) {
    adrt::Alive(__func__, groups[index]);
    if (!groups[index] || !wanted.module || groups[index]->device != wanted.module->device) {
      return Fail(error, ADRT_ERROR_ARGUMENT, "plan_grouped: group ", index,
                  " is null, or not of the module's device");
    }
  }
  return adrt::MakePlan(*kernel, wanted, groups, group_count, plan, details) ? ADRT_OK : details->status;
}

adrt_status adrt_arg_group_update(adrt_arg_group* group, const adrt_arg* args, uint32_t arg_count,
                                  adrt_error* error) {
  adrt::Alive(__func__, group);
  if (!group || (!args && arg_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "arg_group_update: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Update(*group, args, arg_count, details) ? ADRT_OK : details->status;
}
