internal import FreshetWire
internal import Synchronization

/// The memory tier's value for a key: the view, and the decoded value after the first decoding.
///
/// A new view makes a new object, so a decoded value always belongs to the bytes in the same object.
package final class CachedValue: Sendable {
    package let view: KeyView
    /// The first decoding, kept for all later readers. Set once, read without a lock.
    private let decoded = AtomicLazyReference<AnyDecoded>()

    init(_ view: KeyView) { self.view = view }

    /// Creates a view of the same value as an earlier one, whose decoding is still valid.
    init(_ view: KeyView, decodedBy earlier: CachedValue) {
        self.view = view
        if let stored = earlier.decoded.load() { _ = decoded.storeIfNil(stored) }
    }

    /// Returns the value as `Value`, decoded at the first call and cached for the codec of the first caller.
    func value<Value: Sendable>(_ codec: ValueCodec<Value>) throws(ClientError) -> Value? {
        guard case .content(let content) = view.value else { return nil }
        if let stored = decoded.load() {
            // The exact type is known here, so the slower checked cast is not needed.
            guard stored.codec === codec.identity, type(of: stored) == Decoded<Value>.self else { return try decode(content, codec) }
            return unsafeDowncast(stored, to: Decoded<Value>.self).value
        }
        let fresh = Decoded(try decode(content, codec), codec.identity)
        // Another thread may have been first, with another codec.
        _ = decoded.storeIfNil(fresh)
        return fresh.value
    }

    private func decode<Value: Sendable>(_ content: Content, _ codec: ValueCodec<Value>) throws(ClientError) -> Value {
        do {
            return try codec.decode(content)
        } catch {
            throw .notDecodable(key: view.key.description, "\(error)")
        }
    }

    /// The approximate memory use: the bytes of the value and of its media type, those of the confirmed value under a
    /// pending write, and the bookkeeping.
    var cost: Int {
        var cost = 256 + view.key.collection.utf8.count + view.key.id.utf8.count
        if case .content(let content) = view.value { cost += Self.cost(of: content) }
        if view.isPending, let confirmed = view.entry?.content { cost += Self.cost(of: confirmed) }
        return cost
    }

    private static func cost(of content: Content) -> Int { content.bytes.count + content.type.utf8.count }
}

/// A decoded value whose type is not known.
class AnyDecoded: @unchecked Sendable {
    // @unchecked since a class with subclasses cannot be checked: this one is immutable, and its only subclass is
    // ``Decoded``.
    fileprivate let codec: CodecIdentity

    fileprivate init(_ codec: CodecIdentity) { self.codec = codec }
}

/// A decoded value of a type. Immutable, and `Value` is `Sendable`, so it may be shared.
private final class Decoded<Value: Sendable>: AnyDecoded, @unchecked Sendable {
    let value: Value

    init(_ value: Value, _ codec: CodecIdentity) {
        self.value = value
        super.init(codec)
    }
}
