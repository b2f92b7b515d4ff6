/// The principal that a client's name belongs to, in a form that a store keeps: at most 43 characters. The store does not
/// look into it.
package struct ClientOwner: Hashable, Sendable {
    package let text: String

    package init(text: String) { self.text = text }
}
