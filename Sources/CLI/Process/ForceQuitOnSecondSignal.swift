import Glibc
import UnixSignals

/// Ends the process at a second SIGINT or SIGTERM. The first one stops a server gracefully, which may take a while; an
/// operator who sends another does not want to wait.
enum ForceQuitOnSecondSignal {
    /// From now on, the next of these signals ends the process at once.
    static func endProcess() async {
        for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
            StandardStream.error.printLine("\(signal) again: ending at once")
            _exit(128 + signal.rawValue)
        }
    }
}
