import FreshetCache
import Glibc
import TestSupport

/// A process that writes into a cache until it is killed: `CacheProcess DIRECTORY PREFIX SEED FIRST`.
///
/// Its keys are `PREFIX/0` to `PREFIX/19`. Each write has a version, from FIRST on. It prints `try KEY VERSION` before it asks for one, and
/// `set KEY VERSION` or `gone KEY VERSION` when a value, or a removal, is stored.
@main
struct CacheProcess {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let seed = UInt64(arguments[3]), let first = Int(arguments[4]) else {
            say("usage: CacheProcess DIRECTORY PREFIX SEED FIRST")
            exit(64)
        }
        let cache = try await DiskCache.open(arguments[1])
        var random = SeededGenerator(seed: seed)
        var version = first
        while true {
            let key = "\(arguments[2])/\(Int.random(in: 0..<20, using: &random))"
            say("try \(key) \(version)")
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                try await cache.removeValue(forKey: key)
                say("gone \(key) \(version)")
            case 1...3:
                // Several in one transaction, with no one waiting but the last.
                try cache.stageValue(KnownValue.bytes(key, version), forKey: key, tags: ["t"])
                version += 1
                say("try \(key) \(version)")
                try cache.stageValue(KnownValue.bytes(key, version), forKey: key)
                try await cache.flush()
                say("set \(key) \(version)")
            default:
                try await cache.setValue(KnownValue.bytes(key, version), forKey: key, tags: ["t", "u"])
                say("set \(key) \(version)")
            }
            version += 1
        }
    }

    /// Past the buffers of `print`, so that the line is out before the process can be killed.
    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(1, bytes, bytes.count)
    }
}
