/// A rule that does not hold, and how.
package struct SmallFailure: Error, Hashable, Sendable {
    package var rule: Rule
    package var text: String

    init(_ rule: Rule, _ text: String) {
        self.rule = rule
        self.text = text
    }
}
