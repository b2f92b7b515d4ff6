import Dispatch
import FreshetClient
import FreshetTestSupport
import Glibc

/// A device in a separate process, so that a test can kill it: `DeviceProcess URL NAMESPACE DIRECTORY CLIENT SEED WRITES`.
///
/// It makes up to WRITES writes in all, over all its lives, each an increment of one of three counters or a put under an id that is
/// never used again. It prints `durable N` when write N is on its disk, and `drained N` when all N have their verdict; then it ends.
@main
struct DeviceProcess {
    struct Counter: Codable, Sendable { var n: Int }
    struct Note: Codable, Sendable { var text: String }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let seed = UInt64(arguments[5]), let writes = Int64(arguments[6]) else {
            say("usage: DeviceProcess URL NAMESPACE DIRECTORY CLIENT SEED WRITES")
            exit(64)
        }
        endWithReader()
        var configuration = SyncClient.Configuration(url: arguments[1], namespace: arguments[2], storage: .directory(arguments[3]))
        configuration.client = arguments[4]
        configuration.following = .everything
        configuration.firstDelay = .milliseconds(5)
        configuration.longestDelay = .milliseconds(50)
        let client = try SyncClient(configuration)
        try await client.start()
        let counters = client.collection("counters", of: Counter.self)
        let notes = client.collection("notes", of: Note.self)

        var random = SeededGenerator(seed: seed)
        var last: Int64 = 0
        while last < writes {
            let write =
                if Bool.random(using: &random) {
                    try await counters.increment("/n", of: "\(Int.random(in: 0..<3, using: &random))")
                } else {
                    // The clock and the process make the id; that it never comes again is all that matters.
                    try await notes.setValue(Note(text: arguments[4]), forKey: "\(arguments[4])-\(getpid())-\(random.next())")
                }
            last = write.number
            say("durable \(last)")
        }
        try await client.waitUntilDrained()
        await client.stop()
        say("drained \(last)")
    }

    /// Ends the process once nobody can read what it says: a test run that is killed leaves no device behind.
    private static func endWithReader() {
        DispatchQueue.global().async {
            var output = pollfd(fd: 1, events: 0, revents: 0)
            while poll(&output, 1, -1) <= 0 {}
            exit(1)
        }
    }

    /// Past the buffers of `print`, so that the line is out before the process can be killed.
    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(1, bytes, bytes.count)
    }
}
