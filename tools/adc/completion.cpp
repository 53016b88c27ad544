// `adc completion`: scripts by which shells complete the command line. They ask `adc` itself, with a last
// word
// --complete=BEGIN, so that every option of a table is completed the day it is added.

#include <string>

#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "print.h"

namespace adc::tool {

namespace {

/// A file's name is completed where there is no option or command. Bash takes "--emit=p" for three words, so
/// that a reply holds what follows the last "=" alone.
constexpr char kBash[] = R"(_adc() {
  local line=${COMP_LINE:0:COMP_POINT} command=()
  local word=${line##*[[:space:]]}
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 1 ]]; then
    [[ $word == -* ]] || return
    [[ ${COMP_WORDS[1]} == -* ]] || command=("${COMP_WORDS[1]}")
  fi
  mapfile -t COMPREPLY < <("$1" "${command[@]}" "--complete=$word" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  [[ $word == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
  return 0
}
complete -o default -F _adc adc adc-runtime
)";

constexpr char kZsh[] = R"zsh(#compdef adc adc-runtime
_adc() {
  local -a found command
  local word=${words[CURRENT]}
  if (( CURRENT > 2 )); then
    [[ ${words[2]} == -* ]] || command=(${words[2]})
  fi
  if (( CURRENT == 2 )) || [[ $word == -* ]]; then
    found=(${(f)"$(${words[1]} $command --complete=$word 2>/dev/null)"})
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
  fi
  [[ $word == -* ]] || _files
}
compdef _adc adc adc-runtime
)zsh";

constexpr char kFish[] = R"fish(function __adc_complete
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l command
  if test (count $words) -gt 1
    string match -q -- '-*' $word; or return
    string match -q -- '-*' $words[2]; or set command $words[2]
  end
  $words[1] $command --complete=$word 2>/dev/null
end
complete -c adc -a '(__adc_complete)'
complete -c adc-runtime -a '(__adc_complete)'
)fish";

struct Shell {
  const char *name, *script;
};
constexpr Shell kShells[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

}  // namespace

int Completion(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> shells;
  CommandLine line("adc completion [bash|zsh|fish]",
                   "Prints a script by which a shell completes commands and options; default: bash.");
  line.Example("adc completion bash > adc.bash", "to be read by 'source adc.bash'");
  line.Example("adc completion zsh > _adc", "to be read after compinit, or to lie in a folder of fpath");
  line.Example("adc completion fish > adc.fish", "to lie in ~/.config/fish/completions");
  line.Positional("shell", 0, 1, &shells);
  if (std::optional<int> code = line.Parse(words)) return *code;
  for (const Shell& shell : kShells) {
    if (!shells.empty() && shells[0] != shell.name) continue;
    PrintRaw(shell.script);
    return kExitOk;
  }
  PrintError("no completion for a shell '" + shells[0] + "'", "bash, zsh and fish have one");
  return kExitUsage;
}

}  // namespace adc::tool
