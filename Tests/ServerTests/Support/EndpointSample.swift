import FreshetWire

@testable import FreshetServer

/// A valid request for an endpoint. A new endpoint does not compile without its sample.
struct EndpointSample: Sendable {
    var target: String
    var body: String?
    var fields: [(String, String)] = []

    /// - Parameters:
    ///   - id: the record; without it the record is `1`, and requests for many records concern the whole collection. With it they
    ///     concern the ids that begin with it.
    ///   - client: the name of numbered writes, which belongs to the first key that uses it.
    init(
        of endpoint: Endpoint, namespace: String = "shop", in collection: String = "articles", id: String? = nil, client: String = "c"
    ) {
        let base = "/v1/\(namespace)"
        let key = "\(collection)/\(id ?? "1")"
        let json = TestServer.json
        switch endpoint {
        case .getRecord, .deleteRecord: self.init("\(base)/records/\(key)")
        case .putRecord: self.init("\(base)/records/\(key)", "1", json)
        case .patchRecord: self.init("\(base)/records/\(key)", "{}", [("Content-Type", "application/merge-patch+json")])
        case .listRecords: self.init("\(base)/records/\(collection)" + (id.map { "?prefix=\($0)" } ?? ""))
        case .read: self.init("\(base)/reads", #"{"keys":[{"key":"\#(key)"}]}"#, json)
        case .write:
            self.init(
                "\(base)/writes", #"{"client":"\#(client)","writes":[{"number":1,"op":"put","key":"\#(key)","value":1}]}"#, json)
        case .invalidate:
            let prefix = id.map { #","prefix":"\#($0)""# } ?? ""
            self.init("\(base)/invalidations", #"{"collection":"\#(collection)"\#(prefix)}"#, json)
        case .getClient: self.init("\(base)/clients/\(client)")
        case .getChanges:
            self.init("\(base)/changes?since=now&wait=0&collection=\(collection)" + (id.map { "&prefix=\($0)" } ?? ""))
        case .getNamespace, .deleteNamespace: self.init(base)
        case .getRights: self.init("\(base)/rights")
        case .checkAccess: self.init("\(base)/access")
        case .makeTicket: self.init("\(base)/tickets", "{}", json)
        case .getServer: self.init("/v1")
        case .listKeys: self.init("/admin/keys")
        case .makeKey: self.init("/admin/keys", #"{"name":"n","admin":true}"#, json)
        case .getKey, .revokeKey: self.init("/admin/keys/aaaaaaaaaa")
        case .changeKey: self.init("/admin/keys/aaaaaaaaaa", #"{"disabled":true}"#, json)
        case .rotateKey: self.init("/admin/keys/aaaaaaaaaa/rotate", "{}", json)
        case .listRevocations: self.init("/admin/revocations")
        case .makeRevocation: self.init("/admin/revocations", #"{"jti":"t"}"#, json)
        case .reload: self.init("/admin/reload", "", json)
        case .listDenials: self.init("/admin/denials")
        case .getHealth: self.init("/healthz")
        case .getReadiness: self.init("/readyz")
        case .getMetrics: self.init("/metrics")
        case .getOpenAPI: self.init("/openapi.json")
        }
    }

    private init(_ target: String, _ body: String? = nil, _ fields: [(String, String)] = []) {
        self.target = target
        self.body = body
        self.fields = fields
    }
}
