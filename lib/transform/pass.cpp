#include "transform/pass.h"

namespace adc::transform {

PassEnd RunPass(const PassObserver& observer, std::string_view name, const ir::Module& module,
                const std::function<bool()>& pass) {
  if (observer.before) observer.before(name, module);
  if (!pass()) return PassEnd::Failed;
  if (observer.after && !observer.after(name, module)) return PassEnd::Stopped;
  return PassEnd::Done;
}

}  // namespace adc::transform
