import ArgumentParser
import Testing

@testable import freshet

/// The options of `freshet serve` that are refused before it starts.
struct ServeOptionsTests {
    /// Why the arguments are refused; `nil` if they are not.
    private func refusal(_ arguments: String...) -> String? {
        do { _ = try Serve.parse(arguments) } catch { return Serve.message(for: error) }
        return nil
    }

    @Test("Records are kept in one place") func onePlace() {
        #expect(refusal("--memory", "--data", "./freshet-data") == "one of these: --data, --memory")
        #expect(refusal("--memory") == nil)
        #expect(refusal("--data", "elsewhere") == nil)
    }

    @Test("A shared cache is named by its principal") func edge() {
        for text in ["key:abcdefg234", "https://id.example|edge", "*"] { #expect(refusal("--edge", text) == nil, "\(text)") }
        for text in ["", "edge", "key:", "key:<id>", "key:ABCDEFG234", "abcdefg234"] {
            #expect(refusal("--edge", text)?.hasPrefix("--edge takes key:ID") == true, "\(text)")
        }
    }
}
