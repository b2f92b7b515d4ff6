import FreshetClient
import FreshetPlatform
import FreshetTransport
import FreshetWire
import HTTPTypes

/// One namespace of a server, for commands that send single requests: through the SDK's transport, without its caches.
struct Remote: Sendable {
    /// The most bytes of an answer, as in the SDK: a page with an atomic batch has 32 MiB of values, which may be in base64.
    static let maximumAnswerSize = 64 << 20

    /// The server for people: its URL, without a user, a password and a slash at its end, or the path of its admin socket.
    let server: String
    private let root: String
    let namespace: Namespace
    private let token: BearerToken?
    /// Whether requests have a token or a certificate.
    let isAuthenticated: Bool
    private let transport: CurlTransport

    init(
        server: String, namespace: Namespace, token: BearerToken? = nil, allowsInsecureToken: Bool = false, tls: TLSTrust = TLSTrust()
    ) throws(CommandFailure) {
        if let mistake = tls.mistake { throw CommandFailure(.noInput, mistake) }
        root = server.hasSuffix("/") ? String(server.dropLast()) : server
        self.server = Self.withoutUser(root)
        self.namespace = namespace
        self.token = token
        isAuthenticated = token != nil || tls.identity != nil
        do throws(TransportError) {
            var configuration = CurlTransport.Configuration()
            configuration.allowsInsecureCredentials = allowsInsecureToken
            // The time for connecting includes the reading of the system's authorities, which takes seconds on a busy machine.
            configuration.connectTimeout = .seconds(30)
            configuration.tls = tls
            transport = try CurlTransport(configuration)
        } catch {
            throw CommandFailure(.software, error.description)
        }
    }

    /// The URL without the user and the password that it may hold.
    static func withoutUser(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let end = url[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        guard let at = url[scheme.upperBound..<end].lastIndex(of: "@") else { return url }
        return String(url[..<scheme.upperBound] + url[url.index(after: at)...])
    }

    /// A server by its admin socket, as the operator.
    init(adminSocket path: String, namespace: Namespace) throws(CommandFailure) {
        (server, root, self.namespace, token, isAuthenticated) = ("unix:\(path)", "http://localhost", namespace, nil, false)
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = try AbsolutePath(argument: path)
        do throws(TransportError) {
            transport = try CurlTransport(configuration)
        } catch {
            throw CommandFailure(.software, error.description)
        }
    }

    /// Sends a request and returns the answer whatever its status. If the server refuses a token whose file now has a
    /// newer one, the request is repeated once.
    /// - Parameters:
    ///   - timeout: from the start to the last byte.
    ///   - size: the most bytes of the answer.
    /// - Throws: ``CommandFailure`` where the token was refused and its file cannot be read again.
    func answer(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: [UInt8]? = nil, timeout: Duration = .seconds(30),
        atMost size: Int = Self.maximumAnswerSize
    ) async throws(CommandFailure) -> Result<HTTPReply, TransportError> {
        let request = HTTPRequestDescription(
            method: method, url: root + path, fields: fields, body: body, timeout: timeout,
            maximumResponseSize: size)
        guard let token else { return await send(request, token: nil) }
        let text = token.text
        let answer = await send(request, token: text)
        guard case .success(let reply) = answer, reply.status == 401, let newer = try token.renewed(after: text) else { return answer }
        return await send(request, token: newer)
    }

    private func send(_ request: HTTPRequestDescription, token: String?) async -> Result<HTTPReply, TransportError> {
        var request = request
        if let token { request.fields[.authorization] = "Bearer \(token)" }
        return await withCheckedContinuation { continuation in
            transport.send(request) { continuation.resume(returning: $0) }
        }
    }

    /// Sends a request and returns a successful answer.
    /// - Throws: ``CommandFailure`` with the problem in the server's words.
    /// - Parameter isRepeatable: whether it is safe to repeat the request when the answer was lost; by default for
    ///   `GET` and `HEAD`.
    func reply(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: [UInt8]? = nil, isRepeatable: Bool? = nil,
        atMost size: Int = Self.maximumAnswerSize
    ) async throws(CommandFailure) -> HTTPReply {
        let isRepeatable = isRepeatable ?? (method == .get || method == .head)
        switch try await answer(method, path, fields: fields, body: body, atMost: size) {
        case .success(let reply) where (200..<300).contains(reply.status):
            try check(reply)
            return reply
        case .success(let reply): throw CommandFailure(reply, server: server, path: path)
        case .failure(let error): throw CommandFailure(error, server: server, repeatable: isRepeatable)
        }
    }

    /// Throws unless a Freshet server has given the answer: all of its answers name its store. A login page, or a proxy, may answer
    /// every request with success.
    func check(_ reply: HTTPReply) throws(CommandFailure) {
        guard reply.fields[.freshetStore] == nil else { return }
        let way = reply.proxy.map { " (through \($0))" } ?? ""
        throw CommandFailure(.software, "\(server): the answer\(way) with status \(reply.status) is not from a Freshet server")
    }

    /// As ``reply(_:_:fields:body:isRepeatable:)``, and retries while the server cannot be reached or is overloaded.
    /// - Parameters:
    ///   - isRepeatable: whether it is safe to repeat the request when the answer was lost.
    ///   - retries: how long to wait before each further attempt.
    func reply(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: [UInt8]? = nil, isRepeatable: Bool,
        retries: RetrySchedule
    ) async throws(CommandFailure) -> HTTPReply {
        for delay in retries.delays {
            do throws(CommandFailure) {
                return try await reply(method, path, fields: fields, body: body, isRepeatable: isRepeatable)
            } catch {
                guard error.status == .unavailable || error.status == .tryAgain else { throw error }
            }
            // A cancelled command sends at once, and for the last time.
            guard (try? await Task.sleep(for: delay)) != nil else { break }
        }
        return try await reply(method, path, fields: fields, body: body, isRepeatable: isRepeatable)
    }

    /// Sends a message, if one is given, and decodes the answer as another.
    func ask<Answer: WireMessage>(
        _ method: HTTPRequest.Method, _ path: String, _ message: (any WireMessage)? = nil, as: Answer.Type = Answer.self
    ) async throws(CommandFailure) -> Answer {
        let fields: HTTPFields = message == nil ? [:] : [.contentType: Content.json]
        return try Answer(of: try await reply(method, path, fields: fields, body: message?.json))
    }
}

extension WireMessage {
    /// Decodes the message that a reply carries.
    init(of reply: HTTPReply) throws(CommandFailure) {
        do throws(WireError) {
            try self.init(json: reply.body)
        } catch {
            throw CommandFailure(unreadable: error)
        }
    }
}
