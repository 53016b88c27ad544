#include "trust.h"

#include "check_spirv.h"
#include "host/files.h"
#include "keys/keys.h"

namespace adc::tool {

void AddKeyOption(CommandLine& line, std::string help, std::vector<uint8_t>* keys) {
  line.Value("--key", "FILE", std::move(help), [keys](std::string_view name) -> std::string {
    constexpr size_t kMostKeys = 64;
    std::string path(name), wrong;
    // Nothing could be said about a signature: better no run than one that looks checked.
    if (!keys::Available()) return "this build has no libsodium, so that it cannot check signatures";
    if (keys->size() >= kMostKeys * artifact::kPublicKeySize) return "at most 64 keys are possible";
    FileResult<std::string> text = ReadBegin(path);
    if (!text) return text.Failure().text;
    std::optional<keys::PublicKey> key = keys::PublicFromText(*text, &wrong);
    if (!key) return "'" + path + "' " + wrong;
    keys->insert(keys->end(), key->begin(), key->end());
    return {};
  });
}

void AddTrustOptions(CommandLine& line, Trust* trust) {
  line.Flag("--trust", "run the bundle's code, whoever made it, with all rights of this account",
            &trust->all);
  // Drivers fail on code that is not valid: without the validator there is nothing to offer.
  if (CheckOfSpirv() != nullptr) {
    line.Flag(
        "--confined",
        "with --device vulkan: run the bundle's code, whoever made it, where the device keeps it inside its\n"
        "buffers. Takes code of the targets vulkan:1.2-near and vulkan:1.3-near",
        &trust->confined);
  }
  AddKeyOption(line, "run the bundle's code if this public key has signed it; any number of them",
               &trust->keys);
}

}  // namespace adc::tool
