import FreshetCache
import FreshetHTTPCache
import FreshetTestSupport
import HTTPTypes
import Testing

/// The table of RFC 9111, RFC 5861 and RFC 8246: every case over real libcurl against a real origin.
@Suite struct CacheCaseTests {
    @Test(arguments: CacheCase.all) func theCacheDoesAsTheStandardsSay(_ cacheCase: CacheCase) async throws {
        let run = try CaseRun(cacheCase)
        try await run.run()
    }

    @Test func theTableIsLargeAndNamesEachCaseOnce() {
        #expect(CacheCase.all.count >= 150)
        #expect(Set(CacheCase.all.map(\.name)).count == CacheCase.all.count)
    }
}

extension CacheCase {
    static let all = freshness + statuses + storing + validation + requests + stale + vary + invalidation + redirects + modes
}

/// Runs the steps of one case.
private struct CaseRun {
    let cacheCase: CacheCase
    let time = ManualCacheClock(wall: Origin.start * 1_000)
    let store = MemoryHTTPCacheStore()
    let client: CachingHTTPClient
    let segment: String

    init(_ cacheCase: CacheCase) throws {
        self.cacheCase = cacheCase
        var configuration = CachingHTTPClient.Configuration()
        configuration.clock = time.clock
        configuration.maximumRedirects = 3
        configuration.policy.largestContent = 1_000
        configuration.maximumContentSize = 2_000
        client = try CachingHTTPClient(store: store, configuration: configuration)
        segment = String(CacheCase.all.firstIndex { $0.name == cacheCase.name } ?? 0)
        Origin.shared.open(segment, time: time)
    }

    func run() async throws {
        for (index, step) in cacheCase.steps.enumerated() {
            switch step.action {
            case .ask: try await ask(step, "step \(index + 1)")
            case .wait(let seconds): time.advance(by: .seconds(seconds))
            case .damageStore: try damage()
            case .removeURL: try await client.remove(url(step))
            case .removeAll: try await client.removeAll()
            }
        }
        Origin.shared.close(segment)
        client.shutdown()
    }

    private func url(_ step: CacheStep) -> String { "http://\(step.host):\(Origin.shared.port)/\(segment)\(step.path)" }

    private func damage() throws {
        let name = try #require(HTTPURL(url(CacheStep()))).description
        var bytes = try #require(store.bytes(named: name))
        bytes[bytes.count / 2] ^= 1
        store.store(bytes, named: name)
    }

    private func ask(_ step: CacheStep, _ place: Comment) async throws {
        Origin.shared.expect(segment, step.answers)
        let url = url(step)
        var request = HTTPRequest(
            method: step.method, scheme: "http", authority: "\(step.host):\(Origin.shared.port)", path: "/\(segment)\(step.path)")
        for line in step.lines {
            let parts = Origin.withDates(line).split(separator: ":", maxSplits: 1)
            let name = try #require(HTTPField.Name(String(parts[0])))
            request.headerFields.append(HTTPField(name: name, value: String(parts.last?.drop { $0 == " " } ?? "")))
        }
        do {
            let sent = request
            let result = try await within { try await client.data(for: sent, body: step.body.map { Array($0.utf8) }, mode: step.mode) }
            await client.finishRevalidations()
            #expect(step.error == nil, "\(place): it gave \(result)")
            check(result, step, place)
        } catch {
            #expect(step.error?(error) == true, "\(place), \(url): \(error)")
        }
        check(Origin.shared.takeAsked(segment), step, place)
    }

    private func check(_ result: CachedHTTPResponse, _ step: CacheStep, _ place: Comment) {
        if let source = step.source { #expect(result.source == source, "\(place): \(result)") }
        if let content = step.content { #expect(String(decoding: result.body, as: UTF8.self) == content, "\(place): \(result)") }
        if let status = step.status { #expect(result.status == status, "\(place): \(result)") }
        if let age = step.age { #expect(result.response.headerFields[.age] == String(age), "\(place): \(result)") }
        if let storage = step.storage { #expect(result.storage == storage, "\(place): \(result)") }
        if let isStale = step.isStale { #expect(result.isStale == isStale, "\(place): \(result)") }
        if let redirects = step.redirects { #expect(result.redirects.map(\.status) == redirects, "\(place): \(result)") }
        let fields = Dictionary(result.response.headerFields.map { ($0.name.canonicalName, $0.value) }) { "\($0), \($1)" }
        for line in step.has { #expect(fields.contains(line: Origin.withDates(line)), "\(place): \(fields)") }
        for name in step.hasNot { #expect(fields[name] == nil, "\(place): \(fields)") }
    }

    private func check(_ asked: [Asked], _ step: CacheStep, _ place: Comment) {
        #expect(asked.count == step.answers.count, "\(place): the origin was asked \(asked.map(\.line))")
        guard let last = asked.last else { return }
        for line in step.sent { #expect(last.fields.contains(line: Origin.withDates(line)), "\(place): \(last.fields)") }
        for name in step.notSent { #expect(last.fields[name] == nil, "\(place): \(last.fields)") }
        if let line = step.sentLine { #expect(last.line.hasPrefix(line), "\(place): \(last.line)") }
        if let body = step.sentBody { #expect(last.body == body, "\(place): \(last.line)") }
    }
}

extension [String: String] {
    /// Whether a field has just this value: `name: value`, the name in lower case.
    fileprivate func contains(line: String) -> Bool {
        let parts = line.split(separator: ":", maxSplits: 1)
        return parts.first.map { self[String($0)] == parts.last.map { String($0.drop { $0 == " " }) } } ?? false
    }
}
