import FoundationEssentials
import FreshetClient
import FreshetWire
import Glibc

/// `Kiosk URL DIRECTORY`: a shop's kiosk on a terminal. It sells also while it has no network.
@main
struct Kiosk {
    private let shop: Shop
    /// The choice of the customer in front of the kiosk. It is not stored: a kiosk that restarts begins with the next
    /// customer.
    private var cart: [(id: String, count: Int)] = []

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            Terminal.say("usage: Kiosk URL DIRECTORY\n\(Command.help)")
            exit(64)
        }
        do {
            let shop = try Shop(url: arguments[1], directory: arguments[2])
            try await shop.open()
            var kiosk = Kiosk(shop: shop)
            async let display: Void = Display(shop: shop).run()
            for await line in Terminal.lines() {
                guard await kiosk.perform(line) else { break }
            }
            await shop.client.stop()
            await display
            Terminal.say("ended")
        } catch {
            // The error's description says how to fix the problem.
            Terminal.say("error: \(error)")
            exit(1)
        }
    }

    private init(shop: Shop) { self.shop = shop }

    /// Handles a command; returns whether the kiosk continues.
    private mutating func perform(_ line: String) async -> Bool {
        guard let command = Command(line) else {
            Terminal.say(Command.help)
            return true
        }
        do {
            return try await perform(command)
        } catch {
            Terminal.say("error: \(error)")
            return true
        }
    }

    private mutating func perform(_ command: Command) async throws -> Bool {
        switch command {
        case .list: try await list()
        case .describe(let id, let product): stored(try await shop.describe(id, as: product))
        case .deliver(let id, let count): stored(try await shop.deliver(count, of: id))
        case .add(let id, let count): cart.append((id, count))
        case .cart: for line in cart { Terminal.say("in the cart: \(line.count) of \(line.id)") }
        case .buy: try await buy()
        case .setPicture(let id, let file):
            let bytes = Array(try Data(contentsOf: URL(filePath: file)))
            stored(try await shop.setPicture(bytes, of: id))
        case .savePicture(let id, let file): try await savePicture(of: id, to: file)
        case .rejections: for rejection in try await shop.client.rejections.all() { Terminal.say(Display.line(rejection)) }
        case .retry(let number): try await retry(number)
        case .discard(let number): try await discard(number)
        case .status: Terminal.say(Display.line(shop.client.status))
        case .reconnect: shop.client.retryNow()
        case .wait:
            try await shop.client.waitUntilDrained()
            Terminal.say("no write waits")
        case .logOut:
            try await shop.logOut()
            return false
        case .quit: return false
        }
        return true
    }

    private func list() async throws {
        for product in try await shop.products.all() {
            guard let value = product.value else { continue }
            let count = shop.stocks[product.id]?.value?.count ?? 0
            Terminal.say("\(product.id): \(value.name), \(value.price) cents, \(count) in stock\(product.isPending ? ", pending" : "")")
        }
    }

    /// Sells line by line: each sale is a write that counts exactly once, even if the kiosk or the network fails after
    /// it was stored.
    private mutating func buy() async throws {
        while let line = cart.last {
            do {
                let write = try await shop.sell(line.count, of: line.id)
                cart.removeLast()
                Terminal.say("sold \(line.count) of \(line.id)")
                stored(write)
            } catch ClientError.cannotApply {
                // Detected locally: no write was made.
                cart.removeLast()
                Terminal.say("not enough in stock: \(line.count) of \(line.id)")
            }
        }
    }

    private func savePicture(of id: String, to file: String) async throws {
        guard let picture = try await shop.pictures.value(forKey: id) else { return Terminal.say("no picture of \(id)") }
        try Data(picture.bytes).write(to: URL(filePath: file))
        Terminal.say("saved \(file)")
    }

    private func retry(_ number: Int64) async throws {
        guard let rejection = try await rejection(number) else { return }
        stored(try await shop.client.rejections.retry(rejection))
    }

    private func discard(_ number: Int64) async throws {
        guard let rejection = try await rejection(number) else { return }
        try await shop.client.rejections.discard(rejection)
        Terminal.say("discarded \(number)")
    }

    private func rejection(_ number: Int64) async throws -> SyncClient.Rejection? {
        let rejection = try await shop.client.rejections.all().first { $0.number == number }
        if rejection == nil { Terminal.say("no rejection \(number)") }
        return rejection
    }

    private func stored(_ write: PendingWrite) { Terminal.say("stored write \(write.number)") }
}
