import Foundation
import FreshetClient
import FreshetTestKit
import Testing
import Till

@Suite struct TillTests {
    @Test func aSaleReachesTheOtherTill() async throws {
        let kit = try TestKit()
        let left = Till(try await kit.device("left").client)
        let right = Till(try await kit.device("right").client)
        try await kit.backend("articles").setValue(Article(stock: 10, price: 120), forKey: "apple")

        try await left.sell("apple")
        try await kit.waitUntilIdle()

        #expect(right.stock(of: "apple") == 9)
    }

    @Test func aSaleCountsOnceThoughItsAcknowledgementIsLost() async throws {
        let kit = try TestKit()
        let device = try await kit.device("left")
        let till = Till(device.client)
        let articles = kit.backend("articles", of: Article.self)
        try await articles.setValue(Article(stock: 10, price: 120), forKey: "apple")

        let lost = try kit.fault(.dropReply, on: .writes, of: device, times: 3)
        for _ in 1...4 { try await till.sell("apple") }
        try await kit.waitUntilIdle()

        #expect(try await articles.value(forKey: "apple")?.stock == 6)
        #expect(kit.matchCount(of: lost) > 0)
    }

    @Test func aTillSellsWithoutANetwork() async throws {
        let kit = try TestKit()
        let device = try await kit.device("left")
        let till = Till(device.client)
        let articles = kit.backend("articles", of: Article.self)
        try await articles.setValue(Article(stock: 10, price: 120), forKey: "apple")
        try await kit.waitUntilIdle()

        try kit.fault(.dropRequest, of: device, times: .untilCleared)
        try await till.sell("apple")
        #expect(till.stock(of: "apple") == 9)
        #expect(try await articles.value(forKey: "apple")?.stock == 10)

        kit.clearFaults()
        try await kit.waitUntilIdle()
        #expect(try await articles.value(forKey: "apple")?.stock == 9)
    }

    @Test func aPriceThatWasChangedMeanwhileStays() async throws {
        let kit = try TestKit()
        let device = try await kit.device("left")
        let till = Till(device.client)
        let articles = kit.backend("articles", of: Article.self)
        try await articles.setValue(Article(stock: 10, price: 120), forKey: "apple")
        try await kit.waitUntilIdle()

        let frozen = try kit.fault(.freeze, of: device, times: .untilCleared)
        let write = try await till.setPrice(150, of: "apple")
        try await kit.waitForFault(frozen)
        try await articles.setValue(Article(stock: 10, price: 99), forKey: "apple")
        kit.clearFaults()

        await #expect(throws: ClientError.self) { try await write.waitUntilConfirmed() }
        try await kit.waitUntilIdle()
        #expect(try await articles.value(forKey: "apple")?.price == 99)
    }

    @Test func aLoginThatExpiresIsRenewed() async throws {
        let kit = try TestKit()
        let device = try await kit.device("left")
        let till = Till(device.client)
        try await kit.backend("articles").setValue(Article(stock: 10, price: 120), forKey: "apple")
        try await kit.waitUntilIdle()

        let expired = try kit.expireToken(of: device)
        try await till.sell("apple")
        try await kit.waitUntilIdle()

        #expect(kit.matchCount(of: expired) > 0)
        #expect(till.stock(of: "apple") == 9)
    }

    @Test func aSaleOutlivesTheProcess() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "till-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let kit = try TestKit()
        let articles = kit.backend("articles", of: Article.self)
        try await articles.setValue(Article(stock: 10, price: 120), forKey: "apple")

        let device = try await kit.device("left", storage: .directory(folder.path))
        try await kit.waitUntilIdle()
        try kit.fault(.dropRequest, of: device, times: .untilCleared)
        try await Till(device.client).sell("apple")

        try await kit.restart(device)
        let till = Till(device.client)
        #expect(till.stock(of: "apple") == 9)

        kit.clearFaults()
        try await kit.waitUntilIdle()
        #expect(try await articles.value(forKey: "apple")?.stock == 9)
        await kit.close()
    }

    @Test func aRestoredServerKeepsTheTillsRight() async throws {
        let kit = try TestKit()
        let till = Till(try await kit.device("left").client)
        let articles = kit.backend("articles", of: Article.self)
        try await articles.setValue(Article(stock: 10, price: 120), forKey: "apple")
        try await articles.setValue(Article(stock: 5, price: 90), forKey: "pear")
        try await kit.waitUntilIdle()

        try await articles.removeValue(forKey: "pear")
        try await kit.compact()
        try await kit.reset()
        try await till.sell("apple")
        try await kit.waitUntilIdle()

        #expect(till.stock(of: "apple") == 9)
        #expect(till.stock(of: "pear") == nil)
    }
}
