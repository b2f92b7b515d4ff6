import FreshetCache
import FreshetTestSupport
import Glibc

/// A process that writes into a cache until it is killed: `CacheProcess DIRECTORY PREFIX SEED FIRST`.
///
/// Its keys are `PREFIX/0` to `PREFIX/19`. Each write has a version, from FIRST on. It prints `try KEY VERSION` before it asks for one, and
/// `set KEY VERSION` or `gone KEY VERSION` when a value, or a removal, is stored.
///
/// `CacheProcess pressure ROUNDS ROOT PIPE` watches memory and stops so many times, and prints its open descriptors before and after, then its
/// threads. ROOT replaces `/proc` and `/sys`, PIPE is the pipe of a service manager; either may be empty.
@main
struct CacheProcess {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, arguments[1] == "pressure", let rounds = Int(arguments[2]) {
            return await watchMemory(rounds, root: arguments[3], pipe: arguments[4])
        }
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

    private static func watchMemory(_ rounds: Int, root: String, pipe: String) async {
        var configuration = MemoryPressure.Configuration()
        configuration.root = root
        configuration.servicePath = pipe.isEmpty ? nil : pipe
        let pressure = MemoryPressure(configuration)
        let cache = Cache<Int, Int>()
        func watch(_ rounds: Int) async {
            for _ in 0..<rounds {
                cache.shrinks(under: pressure)
                await pressure.stop()
            }
        }
        await watch(3)
        let before = (count(in: "/proc/self/fd"), count(in: "/proc/self/task"))
        await watch(rounds)
        say("\(before.0) \(count(in: "/proc/self/fd")) \(before.1) \(count(in: "/proc/self/task"))")
    }

    private static func count(in path: String) -> Int {
        guard let directory = opendir(path) else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    /// Past the buffers of `print`, so that the line is out before the process can be killed.
    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(1, bytes, bytes.count)
    }
}
