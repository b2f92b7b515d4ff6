public import FreshetClient

/// An article of a shop, with its stock and price.
public struct Article: Codable, Hashable, Sendable {
    /// The number in stock.
    public var stock: Int
    /// In cents.
    public var price: Int

    /// An article.
    public init(stock: Int, price: Int) {
        self.stock = stock
        self.price = price
    }
}

/// The code under test: a till that also sells without a network.
public struct Till: Sendable {
    private let articles: SyncedCollection<Article>

    /// Makes a till that keeps its articles in this client.
    public init(_ client: SyncClient) { articles = client.collection("articles") }

    /// Takes one article from the stock, locally at once, and on the server as soon as it can be reached.
    public func sell(_ name: String) async throws { try await articles.increment("/stock", by: -1, of: name) }

    /// Sets a price, unless the article was changed elsewhere meanwhile.
    public func setPrice(_ price: Int, of name: String) async throws -> PendingWrite {
        try await articles.merge(["price": price], into: name, onConflict: .rejectIfChanged)
    }

    /// The number in stock, as far as this till knows.
    public func stock(of name: String) -> Int? { articles[name]?.value?.stock }
}
