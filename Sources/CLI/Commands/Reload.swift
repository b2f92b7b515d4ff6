import ArgumentParser
import HTTPTypes

/// `freshet reload`: a server's configuration and certificates.
struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have a server read its configuration and its certificates again.",
        discussion: """
            All of them or nothing: if a file is not valid, or changes what a running server cannot, the former configuration
            stays in force, and the command says why. SIGHUP does the same, and the server's log says why.

            EXAMPLES
              freshet reload --admin-socket /run/freshet/admin.sock
              FRESHET_ADMIN_SOCKET=/run/freshet/admin.sock freshet reload
              freshet reload --token-file operator.key
            """)

    @OptionGroup var options: RemoteOptions

    func run() async throws {
        let remote = try options.operatorRemote()
        do throws(CommandFailure) {
            _ = try await remote.reply(.post, "/admin/reload", body: [], isRepeatable: true)
        } catch {
            // As 'serve' and 'config check' end for the same file.
            throw error.status == .conflict ? CommandFailure(.data, error.message) : error
        }
    }
}
