internal import CFreshetCrypto

/// AES in Galois/counter mode (NIST SP 800-38D) by libcrypto: a nonce of 12 bytes, the encrypted bytes, a tag of 16.
enum GaloisCounterMode {
    static let nonceCount = 12
    static let tagCount = 16

    /// Returns nonce, encrypted bytes and tag; `nil` if libcrypto refuses.
    ///
    /// - Parameter nonce: ``nonceCount`` bytes that were never used with this key.
    static func seal(_ bytes: [UInt8], _ key: CipherKey, _ nonce: [UInt8], authenticating bound: [UInt8]) -> [UInt8]? {
        precondition(nonce.count == nonceCount)
        guard let context = Context(key, nonce, isSealing: true), context.authenticate(bound) else { return nil }
        let most = nonceCount + bytes.count + tagCount
        let sealed = [UInt8](unsafeUninitializedCapacity: most) { sealed, count in
            _ = sealed[..<nonceCount].initialize(fromContentsOf: nonce)
            let tag = UnsafeMutableBufferPointer(rebasing: sealed[(nonceCount + bytes.count)..<most])
            let isSealed = bytes.withUnsafeBufferPointer { bytes in
                context.update(bytes, into: sealed.baseAddress.map { $0 + nonceCount }) && context.finish() && context.writeTag(to: tag)
            }
            count = isSealed ? most : 0
        }
        return sealed.isEmpty ? nil : sealed
    }

    /// Returns the bytes that were sealed; `nil` unless key, bound bytes and tag are right.
    static func open(_ sealed: [UInt8], _ key: CipherKey, authenticating bound: [UInt8]) -> [UInt8]? {
        let size = sealed.count - nonceCount - tagCount
        guard size >= 0, let context = Context(key, Array(sealed.prefix(nonceCount)), isSealing: false),
            context.expectTag(Array(sealed.suffix(tagCount))), context.authenticate(bound)
        else { return nil }
        var isRight = false
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            isRight = sealed.withUnsafeBufferPointer { sealed in
                let encrypted = UnsafeBufferPointer(rebasing: sealed[nonceCount..<(nonceCount + size)])
                // Nothing of the bytes leaves this function unless the tag is right.
                return context.update(encrypted, into: bytes.baseAddress) && context.finish()
            }
            count = isRight ? size : 0
        }
        return isRight ? bytes : nil
    }
}

/// Owns the state of one operation of libcrypto.
private final class Context {
    private let context: OpaquePointer

    /// The most bytes of one call: libcrypto counts by `int`.
    private static let portion = 1 << 30

    init?(_ key: CipherKey, _ nonce: [UInt8], isSealing: Bool) {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        self.context = context
        // The nonce's length is the default one of the mode.
        let isReady = key.withCipher { cipher, key in EVP_CipherInit_ex(context, cipher, nil, key, nonce, isSealing ? 1 : 0) }
        // The deinitializer frees the state.
        guard isReady == 1 else { return nil }
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Takes bytes that are authenticated and not encrypted.
    func authenticate(_ bound: [UInt8]) -> Bool { bound.withUnsafeBufferPointer { update($0, into: nil) } }

    /// Encrypts or decrypts; without `output` the bytes are authenticated alone.
    func update(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutablePointer<UInt8>?) -> Bool {
        var offset = 0
        while offset < input.count {
            let size = min(input.count - offset, Self.portion)
            var written: Int32 = 0
            let next = input.baseAddress.map { $0 + offset }
            guard EVP_CipherUpdate(context, output.map { $0 + offset }, &written, next, Int32(size)) == 1 else { return false }
            offset += size
        }
        return true
    }

    /// Ends the operation; when decrypting, `false` if the tag is not the right one.
    func finish() -> Bool {
        // Nothing is written: the mode has no padding. libcrypto takes no null pointer all the same.
        var nothing: [UInt8] = Array(repeating: 0, count: 16)
        var written: Int32 = 0
        return EVP_CipherFinal_ex(context, &nothing, &written) == 1
    }

    func expectTag(_ tag: [UInt8]) -> Bool {
        var tag = tag
        return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }

    func writeTag(to tag: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress) == 1
    }
}
