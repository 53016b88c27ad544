#ifndef ADRT_ADRT_ARG_GROUP_H
#define ADRT_ADRT_ARG_GROUP_H
/* Arguments that many kernels share, bound once. C11.
 *
 * Kernels of an engine take a hundred parameters, most of which are the same memory: positions, masses, the
 * time step. A group holds such arguments by their names; a plan takes from it those that its kernel has as
 * parameters. A new argument of the group reaches all of its plans, and with them all later recordings: the
 * next adrt_sequence_record, adrt_record_*, adrt_run.
 *
 *   adrt_arg_group_create(device, args, 90, &world, &error);
 *   adrt_plan_grouped(forward, &desc, &world, 1, &plan, &error);      // desc.args: further arguments
 *   adrt_plan_grouped(gradient, &desc, &world, 1, &plan2, &error);
 *   adrt_arg_group_update(world, &time_step, 1, &error);              // both plans
 *
 * Thread rule of all functions here: one thread at a time for a group and the plans that were made with it,
 * their release included. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_arg_group adrt_arg_group;

/* A group for plans of the device. Each argument has a name, which none of the others has. Names, values of
 * scalars (at most 128 bytes) and, on Vulkan and Metal, the structs that name memory are copied; the memory
 * itself is the caller's. A plan that takes an argument checks whether it fits. */
ADRT_API adrt_status adrt_arg_group_create(adrt_device* device, const adrt_arg* args, uint32_t arg_count,
                                           adrt_arg_group** group, adrt_error* error);
ADRT_API void adrt_arg_group_retain(adrt_arg_group* group);
/* Plans that were made with the group keep it alive. */
ADRT_API void adrt_arg_group_release(adrt_arg_group* group);

/* adrt_plan with the arguments of the groups beside those of the descriptor, whose module is one of the
 * groups' device. Arguments that the kernel has no parameter for are left out. A parameter that is given by
 * two groups, or by a group and the descriptor, is ADRT_ERROR_ARGUMENT. */
ADRT_API adrt_status adrt_plan_grouped(const adrt_kernel* kernel, const adrt_plan_desc* desc,
                                       adrt_arg_group* const* groups, uint32_t group_count,
                                       adrt_launch_plan** plan, adrt_error* error);

/* Gives arguments anew, by their names, which the group must have, and updates all plans of the group as
 * adrt_plan_update does. Where one of them refuses, the error names kernel and parameter, and group and plans
 * have what they had before. Earlier recordings do not change: adrt_sequence_info says whether a sequence is
 * to be recorded again. */
ADRT_API adrt_status adrt_arg_group_update(adrt_arg_group* group, const adrt_arg* args, uint32_t arg_count,
                                           adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
