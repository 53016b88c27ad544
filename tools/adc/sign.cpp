// `adc sign`: makes keys, and signs the content of bundles with them.

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/output_places.h"
#include "keys/keys.h"
#include "print.h"

namespace adc::tool {

namespace {

int NoLibrary() {
  PrintError("this build has no libsodium, so that it can neither make keys nor sign",
             "build adc where libsodium-dev is installed");
  return kExitUnsupported;
}

int Tell(const FileFailure& failure) {
  PrintError(failure.text, failure.help);
  return kExitFailed;
}

int MakeKey(const std::string& path) {
  keys::Seed seed;
  keys::PublicKey key;
  if (!keys::Make(&seed, &key)) return NoLibrary();
  std::string public_path = path + ".pub";
  std::error_code ignored;
  if (std::filesystem::exists(public_path, ignored)) {
    PrintError("cannot write '" + public_path + "': it is there",
               "an existing key is never replaced: choose another name");
    return kExitFailed;
  }
  if (FileStatus written = WriteSecret(path, keys::SecretText(seed)); !written)
    return Tell(written.Failure());
  if (FileStatus written = WriteWhole(public_path, keys::PublicText(key)); !written) {
    std::filesystem::remove(path, ignored);
    return Tell(written.Failure());
  }
  Print("%s: secret key, keep it to yourself\n%s: public key %s\n", path.c_str(), public_path.c_str(),
        keys::Hex(key).c_str());
  return kExitOk;
}

bool KeyLess(const artifact::Signature& left, const artifact::Signature& right) {
  return std::memcmp(left.key, right.key, sizeof left.key) < 0;
}

/// Writes the bundle with the signature of `seed` among the present ones, or without any.
int Rewrite(const std::string& path, const std::string& out, const keys::Seed* seed) {
  BundleFile file;
  if (int code = ReadBundleFile(path, &file); code != kExitOk) return code;
  std::vector<artifact::Signature> signatures;
  if (seed != nullptr) {
    artifact::Signature own;
    uint8_t message[artifact::kSignedBytes];
    artifact::MakeSignedBytes(file.index, message);
    if (!keys::Sign(*seed, message, &own)) return NoLibrary();
    if (int code = ReadSignatureRows(file, &signatures); code != kExitOk) return code;
    std::erase_if(signatures, [&](const artifact::Signature& row) {
      return std::memcmp(row.key, own.key, sizeof own.key) == 0;
    });
    signatures.insert(std::upper_bound(signatures.begin(), signatures.end(), own, KeyLess), own);
    if (signatures.size() > artifact::kMaxSignatures) {
      PrintError("'" + path + "' has " + std::to_string(artifact::kMaxSignatures) + " signatures already",
                 "adc sign --remove takes all of them out");
      return kExitFailed;
    }
  }
  artifact::Vector<uint8_t> written;
  artifact::Error error;
  if (!artifact::WithSignatures(file.bytes, file.index, signatures, &written, &error)) {
    PrintError("'" + path + "': " + std::string(error.message()));
    return kExitBadBundle;
  }
  std::span<const uint8_t> bytes(written.data(), written.size());
  if (FileStatus done = WriteWhole(out, bytes); !done) {
    PrintError(done.Failure().text, done.Failure().help);
    return kExitFailed;
  }
  return kExitOk;
}

}  // namespace

int Sign(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  std::string new_key, key, out;
  bool remove = false;
  CommandLine line(
      "adc sign --new-key=FILE | adc sign --key=FILE [-o FILE] bundle.adcb...",
      "Makes keys, and signs bundles with them (Ed25519): a signature says that the holder of the key\n"
      "vouches for the content, so that adc run --key=FILE.pub and hosts of the loader that know the\n"
      "public key run its code. It covers everything but the signatures: after a change of one bit none is\n"
      "good any more. A bundle may have several, at most 16.");
  line.Text("--new-key", "FILE", "make a key: the secret half into FILE, the public one into FILE.pub",
            &new_key);
  line.Text("--key", "FILE", "sign with this secret key; its earlier signature is replaced", &key);
  line.Flag("--remove", "take all signatures out", &remove);
  line.Text("-o", "FILE", "write there, not in place", &out);
  line.Example("adc sign --new-key=studio", "writes studio and studio.pub");
  line.Example("adc sign --key=studio relax.adcb", "signs in place");
  line.Positional("bundle", 0, SIZE_MAX, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  if (!new_key.empty() + !key.empty() + remove != 1) {
    PrintError("one of --new-key, --key and --remove is expected");
    return kExitUsage;
  }
  if (new_key.empty() == files.empty() || (!out.empty() && files.size() != 1)) {
    PrintError(files.empty()      ? "no bundle to sign"
               : !new_key.empty() ? "--new-key takes no bundle"
                                  : "-o requires one bundle");
    return kExitUsage;
  }
  if (!new_key.empty()) return MakeKey(new_key);
  std::optional<keys::Seed> seed;
  if (!remove) {
    if (!keys::Available()) return NoLibrary();
    FileResult<std::string> text = ReadBegin(key);
    std::string wrong;
    if (!text) {
      PrintError(text.Failure().text, text.Failure().help);
      return kExitFailed;
    }
    seed = keys::SecretFromText(*text, &wrong);
    if (!seed) {
      PrintError("'" + key + "' " + wrong);
      return kExitUsage;
    }
  }
  if (FileStatus safe = KeepSources({out}, {key}); !safe) {
    PrintError(safe.Failure().text, safe.Failure().help);
    return kExitUsage;
  }
  for (const std::string& path : files) {
    int code = Rewrite(path, out.empty() ? path : out, seed ? &*seed : nullptr);
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace adc::tool
