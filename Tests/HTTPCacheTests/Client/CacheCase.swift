import FreshetHTTPCache
import HTTPTypes
import Testing

/// A sequence of requests with the origin's answers and the expected results, with a manual clock.
struct CacheCase: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [CacheStep]

    init(_ name: String, _ steps: CacheStep...) {
        self.name = name
        self.steps = steps
    }

    init(_ name: String, steps: [CacheStep]) {
        self.name = name
        self.steps = steps
    }

    var testDescription: String { name }
}

/// One thing that happens in a case.
struct CacheStep: Sendable {
    enum Action: Sendable {
        case ask
        case wait(Int)
        case damageStore
        case removeURL
        case removeAll
    }

    var action = Action.ask
    var method = HTTPRequest.Method.get
    /// The rest of the path after the case's segment.
    var path = ""
    var host = "127.0.0.1"
    var lines: [String] = []
    var body: String?
    var mode = HTTPCacheMode.standard
    /// The origin's answers, in turn. The origin must get exactly as many requests.
    var answers: [OriginAnswer] = []

    var source: CachedHTTPResponse.Source?
    var content: String?
    var status: Int?
    var age: Int?
    var sent: [String] = []
    var notSent: [String] = []
    var has: [String] = []
    var hasNot: [String] = []
    var storage: HTTPStorage?
    var isStale: Bool?
    var redirects: [Int]?
    var sentLine: String?
    var sentBody: String?
    var error: (@Sendable (any Error) -> Bool)?

    /// A request whose response must come from there, with this content.
    static func ask(
        _ method: HTTPRequest.Method, _ source: CachedHTTPResponse.Source, _ content: String? = nil, at path: String = "",
        with lines: [String] = [], origin answers: OriginAnswer...
    ) -> CacheStep {
        CacheStep(method: method, path: path, lines: lines, answers: answers, source: source, content: content)
    }

    static func get(
        _ source: CachedHTTPResponse.Source, _ content: String? = nil, at path: String = "", with lines: [String] = [],
        origin answers: OriginAnswer...
    ) -> CacheStep {
        CacheStep(path: path, lines: lines, answers: answers, source: source, content: content)
    }

    /// A request that must end with an error.
    static func failing(
        with lines: [String] = [], origin answers: OriginAnswer..., where error: @escaping @Sendable (HTTPClientError) -> Bool
    ) -> CacheStep {
        CacheStep(lines: lines, answers: answers, error: { ($0 as? HTTPClientError).map(error) ?? false })
    }

    static func wait(_ seconds: Int) -> CacheStep { CacheStep(action: .wait(seconds)) }
    static var damageStore: CacheStep { CacheStep(action: .damageStore) }
    static var removeURL: CacheStep { CacheStep(action: .removeURL) }
    static var removeAll: CacheStep { CacheStep(action: .removeAll) }

    func method(_ method: HTTPRequest.Method) -> CacheStep { with { $0.method = method } }
    func mode(_ mode: HTTPCacheMode) -> CacheStep { with { $0.mode = mode } }
    func host(_ host: String) -> CacheStep { with { $0.host = host } }
    func body(_ body: String) -> CacheStep { with { $0.body = body } }
    func status(_ status: Int) -> CacheStep { with { $0.status = status } }
    func age(_ age: Int) -> CacheStep { with { $0.age = age } }
    func sent(_ lines: String...) -> CacheStep { with { $0.sent = lines } }
    func notSent(_ names: String...) -> CacheStep { with { $0.notSent = names } }
    func has(_ lines: String...) -> CacheStep { with { $0.has = lines } }
    func hasNot(_ names: String...) -> CacheStep { with { $0.hasNot = names } }
    func storage(_ storage: HTTPStorage) -> CacheStep { with { $0.storage = storage } }
    func stale(_ isStale: Bool = true) -> CacheStep { with { $0.isStale = isStale } }
    func redirects(_ statuses: Int...) -> CacheStep { with { $0.redirects = statuses } }
    func sentLine(_ line: String) -> CacheStep { with { $0.sentLine = line } }
    func sentBody(_ body: String) -> CacheStep { with { $0.sentBody = body } }

    private func with(_ change: (inout CacheStep) -> Void) -> CacheStep {
        var copy = self
        change(&copy)
        return copy
    }
}

// MARK: Cases of one shape

extension CacheCase {
    /// The first answer serves again after so many seconds.
    static func reused(
        _ name: String, after seconds: Int = 0, age: Int? = nil, status: Int = 200, _ lines: String..., answer: OriginAnswer? = nil
    ) -> CacheCase {
        let content = status == 204 ? "" : "first"
        let answer = answer ?? OriginAnswer(status: status, body: content, lines: lines)
        var second = CacheStep.get(.cache, content).status(answer.status).stale(false)
        second.age = age
        return CacheCase(name, .get(.network, content, origin: answer).storage(.stored), .wait(seconds), second)
    }

    /// The origin is asked again after so many seconds, without conditions.
    static func asked(_ name: String, after seconds: Int = 0, status: Int = 200, _ lines: String..., answer: OriginAnswer? = nil)
        -> CacheCase
    {
        CacheCase(
            name, .get(.network, status == 204 ? "" : "first", origin: answer ?? OriginAnswer(status: status, body: "first", lines: lines)),
            .wait(seconds), .get(.network, "second", origin: .ok("second")).notSent("if-none-match", "if-modified-since"))
    }

    /// The origin is asked to confirm the first answer after so many seconds.
    static func validated(_ name: String, after seconds: Int = 0, status: Int = 200, with request: [String] = [], _ lines: String...)
        -> CacheCase
    {
        let content = status == 204 ? "" : "first"
        return CacheCase(
            name, .get(.network, content, origin: OriginAnswer(status: status, body: content, lines: lines)), .wait(seconds),
            .get(.validated, content, with: request, origin: .notModified()).status(status))
    }
}

/// A table of cases, a statement each: the compiler takes long over one large expression.
@resultBuilder enum CacheCaseTable {
    static func buildExpression(_ element: CacheCase) -> [CacheCase] { [element] }
    static func buildBlock(_ parts: [CacheCase]...) -> [CacheCase] { parts.flatMap { $0 } }
    static func buildArray(_ parts: [[CacheCase]]) -> [CacheCase] { parts.flatMap { $0 } }
}

func cases(@CacheCaseTable _ table: () -> [CacheCase]) -> [CacheCase] { table() }
