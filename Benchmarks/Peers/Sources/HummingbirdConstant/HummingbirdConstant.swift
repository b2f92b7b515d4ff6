import Hummingbird

/// Serves one constant of 130 bytes at `/r`, with Hummingbird's defaults: `HummingbirdConstant PORT`.
@main
struct HummingbirdConstant {
    static func main() async throws {
        guard let port = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) else {
            print("usage: HummingbirdConstant PORT")
            return
        }
        let router = Router()
        let body = String(repeating: "x", count: 130)
        router.get("/r") { _, _ in body }
        let application = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
