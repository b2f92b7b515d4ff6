import Glibc
import Synchronization

/// A `freshet serve` in a separate process, so that it can be killed as abruptly as by a power cut.
struct ServerProcess: Sendable {
    let process: ChildProcess
    /// `http://127.0.0.1:PORT`.
    let url: String
    let port: Int

    /// Starts a server and waits until it answers.
    /// - Parameters:
    ///   - data: its directory; `nil` if the options say where the records are.
    ///   - port: 0 takes any free one.
    static func start(executable: String, data: String?, port: Int = 0, options: [String] = []) async throws -> ServerProcess {
        let storage = data.map { ["--data", $0] } ?? []
        let process = try ChildProcess(
            executable: executable, arguments: ["serve"] + storage + ["--port", String(port), "--until-input-ends"] + options)
        for await line in process.lines {
            if let url = url(in: line), let port = Int(url.split(separator: ":").last ?? "") {
                return ServerProcess(process: process, url: url, port: port)
            }
        }
        switch await process.ending() {
        case .exited(let code):
            // The server's reason is the caller's too, for example a port that is taken.
            let status = ExitStatus(rawValue: code).flatMap { $0 == .success ? nil : $0 } ?? .software
            throw CommandFailure(status, "the server ended before it was ready, with exit status \(code); its reason is above")
        case .signalled(let signal):
            throw CommandFailure(.software, "the server was ended by signal \(signal) before it was ready")
        }
    }

    /// The address in the line that `serve` prints when it is ready.
    static func url(in line: String) -> String? {
        let start = Serve.readyPrefix
        return line.hasPrefix(start) ? String(line.dropFirst(start.count)) : nil
    }

    /// Kills the server, as a power cut would, and waits until it is gone.
    func kill() async {
        process.send(SIGKILL)
        _ = await process.ending()
    }

    /// Asks the server to finish its requests and exit, and waits until it is gone.
    func stop() async -> ChildProcess.Ending {
        process.send(SIGTERM)
        return await process.ending()
    }
}

/// The server that runs at the moment, so that an interrupted demo can kill it.
final class ServerSlot: Sendable {
    private let slot = Mutex<ServerProcess?>(nil)

    var server: ServerProcess? {
        get { slot.withLock { $0 } }
        set { slot.withLock { $0 = newValue } }
    }
}
