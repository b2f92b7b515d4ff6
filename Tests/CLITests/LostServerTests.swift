import FreshetTestSupport
import FreshetWire
import Testing

@testable import freshet

/// Exports and imports whose server disconnects.
@Suite(.timeLimit(.minutes(5)))
struct LostServerTests {
    private static func answer(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nFreshet-Store: s\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    private static func page(_ id: String, next: String?, epoch: String = "e") -> String {
        let next = next.map { "\"\($0)\"" } ?? "null"
        return answer(#"{"records":[{"key":"c/\#(id)","value":1}],"next":\#(next),"cursor":"\#(epoch)-1"}"#)
    }

    private let once = RetrySchedule(delays: [.zero])

    private func exported(_ answers: [String], retries: RetrySchedule) async throws(freshet.CommandFailure) -> String {
        let namespace: Namespace
        do throws(WireError) { namespace = try Namespace("default") } catch { throw freshet.CommandFailure(.software, "\(error)") }
        let remote = try Remote(server: Sockets.serve(answers), namespace: namespace)
        var text = ""
        let exporter = Exporter(pages: RecordPages(remote: remote, collection: "c", retries: retries))
        _ = try await exporter.run {
            text += String(decoding: $0, as: UTF8.self)
        } progress: { _ in
        }
        return text
    }

    @Test func anExportAsksAgain() async throws {
        // Given a server that closes the second request's connection once
        let answers = [Self.page("1", next: "1"), "", Self.page("2", next: nil)]
        // When a collection is exported; Then all records are printed, each once
        let text = try await exported(answers, retries: once)
        #expect(text == #"{"key":"c/1","value":1}"# + "\n" + #"{"key":"c/2","value":1}"# + "\n")
    }

    @Test func anExportThatEndsSaysHowToGoOn() async {
        // Given a server that is gone after the first page
        let failure = await #expect(throws: freshet.CommandFailure.self) {
            try await exported([Self.page("it's", next: "it's"), ""], retries: .none)
        }
        #expect(failure?.status == .unavailable)
        #expect(
            failure?.message.hasSuffix(
                #"1 record printed so far: the same command with --after 'it'\''s' prints the others"#) == true)
    }

    @Test func anExportDoesNotMixHistories() async {
        // Given a namespace whose epoch changes between two pages
        let failure = await #expect(throws: freshet.CommandFailure.self) {
            try await exported([Self.page("1", next: "1"), Self.page("2", next: nil, epoch: "f")], retries: .none)
        }
        #expect(failure?.status == .data)
        #expect(failure?.message.contains("export it again") == true)
    }

    @Test func anImportAsksAgainAndSaysHowFarItCame() async throws {
        // Given two batches, and a server that closes the connection of the first once and is gone before the second
        let lines = (1...1_001).map { #"{"key":"c/\#($0)","value":1}"# }.joined(separator: "\n")
        let file = try ImportText(lines)
        let source = ImportLines(input: file.input, rules: ImportRules())
        let plan = try ImportPlan(source, content: { file.input.hash })
        file.input.rewind()
        let results = (1...1_000).map { #"{"number":\#($0),"status":"applied","revision":\#($0)}"# }.joined(separator: ",")
        let answers = [
            Self.answer(#"{"client":"\#(plan.client)","last":0}"#), "", Self.answer(#"{"results":[\#(results)],"cursor":"e-1000"}"#), "",
            "",
        ]
        let remote = try Remote(server: Sockets.serve(answers), namespace: Namespace("default"))
        var progress: [Int] = []
        // When it is imported
        var failure: freshet.CommandFailure?
        do throws(freshet.CommandFailure) {
            _ = try await Importer(remote: remote, plan: plan, retries: once).run(source) { progress.append($0) }
        } catch {
            failure = error
        }
        // Then the first batch is counted once, and the error states the progress
        #expect(progress == [0, 1_000])
        #expect(failure?.status == .unavailable)
        #expect(
            failure?.message.hasSuffix("1,000 of 1,001 records are written, and the same command once more writes the others") == true,
            "\(failure?.message ?? "")")
    }
}
