import Foundation
import FreshetTestSupport
import Testing

@testable import FreshetTrust

struct SecretTests {
    private struct Holder {
        var secret: Secret
        var optional: Secret?
        var list: [Secret]
        var byName: [String: Secret]
    }

    @Test func nothingShowsASecret() {
        // Given
        let word = "hunter2hunter2"
        let secret = Secret(Array(word.utf8))
        let holder = Holder(secret: secret, optional: secret, list: [secret], byName: ["a": secret])
        // When
        var texts = ["\(secret)", String(describing: secret), String(reflecting: secret), "\(holder)", String(reflecting: holder)]
        texts += ["\(Optional(secret) as Any)", "\([secret])", String(format: "%@", "\(secret)")]
        var dumped = ""
        dump(secret, to: &dumped)
        dump(holder, to: &dumped)
        texts.append(dumped)
        // Then
        let numbers = Array(word.utf8).map(String.init).joined(separator: ", ")
        for text in texts {
            #expect(!text.contains("hunter2") && !text.contains(numbers) && text.contains("•••"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(!((secret as Any) is any Encodable))
        #expect(!((secret as Any) is any Equatable))
    }

    @Test func aKeyAndItsStoredFormDoNotShowTheSecret() {
        // Given
        var random = SeededGenerator(seed: 5)
        let key = AccessKey(using: &random)
        let secret = String(decoding: key.secret.exposed, as: UTF8.self)
        let stored = StoredKey(key, name: "backend", rights: .none, created: 0)
        // When
        var dumped = "\(key) \(String(reflecting: key)) \(stored)"
        dump(key, to: &dumped)
        dump(stored, to: &dumped)
        // Then
        #expect(!dumped.contains(secret) && !dumped.contains(key.secret.exposed.map(String.init).joined(separator: ", ")))
        #expect(dumped.contains(key.id.text))
    }

    @Test func secretsAreComparedByTheirBytes() {
        #expect(Secret([1, 2]).matches(Secret([1, 2])))
        #expect(!Secret([1, 2]).matches(Secret([1, 3])) && !Secret([1, 2]).matches(Secret([1])) && Secret([]).matches(Secret([])))
    }
}
