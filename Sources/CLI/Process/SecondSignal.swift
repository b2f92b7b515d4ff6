import Glibc
import UnixSignals

/// The first SIGINT or SIGTERM asks a server to end well, which may take a while; who sends another does not want to wait.
enum SecondSignal {
    /// From now on, the next of these signals ends the process at once.
    static func endProcess() async {
        for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
            StandardStream.error.printLine("\(signal) again: ending at once")
            _exit(128 + signal.rawValue)
        }
    }
}
