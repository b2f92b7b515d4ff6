import FreshetServer
import FreshetTrust

extension CommandFailure {
    /// Throws if no key and no token can be verified.
    static func checkCryptography() throws(CommandFailure) {
        do throws(CryptographySelfTest.Failure) { try CryptographySelfTest.run() } catch {
            throw CommandFailure(.software, error.description)
        }
    }

    /// Why a server could not start.
    init(_ error: RecordServerError) {
        let status: ExitStatus =
            switch error {
            case .addressInUse, .addressUnusable, .directoryInUse: .unavailable
            case .directoryUnusable, .auditLogUnusable: .cannotCreate
            case .newerSchema, .dataDamaged, .certificateUnusable: .data
            case .diskFull, .failed: .inputOutput
            case .invalidConfiguration: .usage
            case .alreadyStarted: .software
            }
        if case .addressInUse(let host, let port) = error {
            self.init(
                status,
                "\(host):\(port) is in use: stop the program that listens there, or choose another port by --port or in the file of "
                    + "--config (0 picks a free one)")
        } else {
            self.init(status, error.description)
        }
    }
}
