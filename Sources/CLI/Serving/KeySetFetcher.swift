import FreshetServer
import FreshetTransport
import FreshetTrust
import HTTPTypes

/// Fetches the key sets of issuers, by libcurl on its thread.
struct KeySetFetcher: Sendable {
    private let transport: CurlTransport
    private let timeout: Duration

    /// - Parameter timeout: how long a fetch may take.
    init(timeout: Duration = .seconds(10)) throws(TransportError) {
        self.timeout = timeout
        var configuration = CurlTransport.Configuration()
        configuration.connectTimeout = .seconds(5)
        transport = try CurlTransport(configuration)
    }

    /// The URL is checked where the configuration is read: https, or http to this machine. Redirects are not followed, since
    /// they could lead anywhere.
    func fetch(_ url: String, _ completion: @escaping @Sendable (Result<KeyDocument, KeyFetchFailure>) -> Void) {
        let request = HTTPRequestDescription(
            url: url, fields: [.accept: "application/jwk-set+json, application/json"], timeout: timeout,
            maximumResponseSize: KeySet.maximumBytes)
        transport.send(request) { [transport] result in
            // The transport ends with its last user, and so not before this fetch.
            _ = transport
            completion(
                result.mapError { KeyFetchFailure($0.description) }.flatMap { reply in
                    guard reply.status == 200 else { return .failure(KeyFetchFailure("the status is \(reply.status), and not 200")) }
                    return .success(KeyDocument(reply.body, maximumAge: Self.maximumAge(reply.fields[.cacheControl])))
                })
        }
    }

    /// The `max-age` of a field (RFC 9111 §5.2.2.1), in milliseconds; 0 for `no-store` and `no-cache`.
    static func maximumAge(_ field: String?) -> Int64? {
        var age: Int64?
        for directive in (field ?? "").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) }.lowercased() }
            switch parts.first {
            case "no-store", "no-cache": return 0
            case "max-age": age = parts.last.flatMap { Int64($0) }.map { min(max(0, $0), 31_536_000) * 1_000 }
            default: continue
            }
        }
        return age
    }
}
