import Foundation
import FreshetSimulator
import FreshetTestSupport

/// One headless Chromium for all tests of this process, driven over its debugging pipe. It ends when the pipe closes, with this process.
actor BrowserProcess {
    static let shared = BrowserProcess()

    /// A response, or an event where `method` says so.
    private struct Header: Decodable {
        struct Problem: Decodable { let message: String }
        let id: Int?
        let method: String?
        let sessionId: String?
        let error: Problem?
    }
    private struct Context: Decodable { let browserContextId: String }
    private struct Target: Decodable { let targetId: String }
    private struct Session: Decodable { let sessionId: String }
    private struct Envelope<Result: Decodable>: Decodable { let result: Result }
    private struct InvariantFailure: Decodable {
        struct Parameters: Decodable {
            struct Argument: Decodable { let description: String? }
            struct Entry: Decodable { let text: String }
            struct Exception: Decodable { let text: String }
            let args: [Argument]?
            let entry: Entry?
            let exceptionDetails: Exception?
        }
        let params: Parameters
    }
    private struct Page {
        var hasLoaded = false
        var loadWaiter: CheckedContinuation<Void, any Error>?
        var failures: [String] = []
    }

    private var input: FileHandle?
    private var received: [UInt8] = []
    private var lastCall = 0
    private var waiters: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var pages: [String: Page] = [:]
    private var isOver = false
    private let writes = DispatchQueue(label: "freshet.tests.browser")

    /// Opens a page in a separate context, runs `work` on it and closes it.
    func withPage<Value: Sendable>(
        at address: String, _ browser: Browser, before script: String,
        _ work: @Sendable (_ session: String, isolated BrowserProcess) async throws -> Value
    ) async throws -> Value {
        try start(browser.executable)
        let context: Context = try await call("Target.createBrowserContext")
        let target: Target = try await call(
            "Target.createTarget",
            ["url": "about:blank", "browserContextId": context.browserContextId, "width": browser.width, "height": browser.height])
        let session: Session = try await call("Target.attachToTarget", ["targetId": target.targetId, "flatten": true])
        let name = session.sessionId
        pages[name] = Page()
        do {
            for method in ["Page.enable", "Runtime.enable", "Log.enable"] { try await order(method, [:], name) }
            try await order(
                "Emulation.setDeviceMetricsOverride",
                ["width": browser.width, "height": browser.height, "deviceScaleFactor": 1, "mobile": false], name)
            let scheme = ["name": "prefers-color-scheme", "value": browser.isDark ? "dark" : "light"]
            try await order("Emulation.setEmulatedMedia", ["features": [scheme]], name)
            try await order("Page.addScriptToEvaluateOnNewDocument", ["source": script], name)
            try await order("Page.navigate", ["url": address], name)
            try await loaded(name)
            let value = try await work(name, self)
            let failures = pages.removeValue(forKey: name)?.failures ?? []
            guard failures.isEmpty else { throw CommandFailure(description: "console: \(failures.joined(separator: "\n"))") }
            try await order("Target.disposeBrowserContext", ["browserContextId": context.browserContextId])
            return value
        } catch {
            pages[name] = nil
            if !isOver { send("Target.disposeBrowserContext", ["browserContextId": context.browserContextId], nil) }
            throw error
        }
    }

    /// Calls a method of the protocol and decodes its result.
    func call<Result: Decodable>(
        _ method: String, _ parameters: [String: any Sendable] = [:], _ session: String? = nil
    ) async throws -> Result {
        guard !isOver else { throw CommandFailure(description: "chromium has ended") }
        let number = send(method, parameters, session)
        let data = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiters[number] = $0 }
        } onCancel: {
            Task { await self.cancel(number) }
        }
        return try JSONDecoder().decode(Envelope<Result>.self, from: data).result
    }

    private struct Nothing: Decodable {}
    private func order(_ method: String, _ parameters: [String: any Sendable], _ session: String? = nil) async throws {
        let _: Nothing = try await call(method, parameters, session)
    }

    @discardableResult
    private func send(_ method: String, _ parameters: [String: any Sendable], _ session: String?) -> Int {
        lastCall += 1
        var message: [String: Any] = ["id": lastCall, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        guard let input, var bytes = try? JSONSerialization.data(withJSONObject: message) else { return lastCall }
        bytes.append(0)
        writes.async { [bytes] in try? input.write(contentsOf: bytes) }
        return lastCall
    }

    private func loaded(_ session: String) async throws {
        guard pages[session]?.hasLoaded == false else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { pages[session]?.loadWaiter = $0 }
        } onCancel: {
            Task { await self.cancelLoad(session) }
        }
    }

    private func cancel(_ number: Int) { waiters.removeValue(forKey: number)?.resume(throwing: CancellationError()) }

    private func cancelLoad(_ session: String) {
        pages[session]?.loadWaiter?.resume(throwing: CancellationError())
        pages[session]?.loadWaiter = nil
    }

    // MARK: The process

    private func start(_ executable: String) throws {
        guard input == nil else { return }
        // The pipe is expected as descriptors 3 and 4. As root Chromium has no sandbox; a container's /dev/shm is small. The shell
        // removes the profile when Chromium has ended.
        let command = #"profile=$(mktemp -d); "$@" --user-data-dir="$profile" 3<&0 4>&1 </dev/null >/dev/null 2>&1; rm -rf "$profile""#
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", command, "sh", executable, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--no-first-run",
            "--disable-background-networking", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
            "--disable-backgrounding-occluded-windows",
        ]
        let (toBrowser, fromBrowser) = (Pipe(), Pipe())
        process.standardInput = toBrowser
        process.standardOutput = fromBrowser
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        fromBrowser.fileHandleForReading.readabilityHandler = { handle in
            let chunk = handle.availableData
            if chunk.isEmpty {
                handle.readabilityHandler = nil
                continuation.finish()
            } else {
                continuation.yield(chunk)
            }
        }
        try process.run()
        input = toBrowser.fileHandleForWriting
        Task(executorPreference: BrowserExecutor.shared) {
            for await chunk in chunks { await self.take(chunk) }
            await self.end()
        }
    }

    private func take(_ chunk: Data) {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: 0) {
            received += rest[..<end]
            handle(Data(received))
            received = []
            rest = rest[(end + 1)...]
        }
        received += rest
    }

    private func handle(_ message: Data) {
        guard let header = try? JSONDecoder().decode(Header.self, from: message) else { return }
        if let number = header.id {
            let waiter = waiters.removeValue(forKey: number)
            if let problem = header.error {
                waiter?.resume(throwing: CommandFailure(description: "chromium: \(problem.message)"))
            } else {
                waiter?.resume(returning: message)
            }
            return
        }
        guard let session = header.sessionId, pages[session] != nil else { return }
        switch header.method {
        case "Page.loadEventFired":
            pages[session]?.hasLoaded = true
            pages[session]?.loadWaiter?.resume()
            pages[session]?.loadWaiter = nil
        case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
            let parameters = try? JSONDecoder().decode(InvariantFailure.self, from: message).params
            let texts = [parameters?.entry?.text, parameters?.exceptionDetails?.text] + (parameters?.args ?? []).map(\.description)
            pages[session]?.failures.append(texts.compactMap(\.self).joined(separator: " "))
        default: break
        }
    }

    private func end() {
        isOver = true
        let failure = CommandFailure(description: "chromium ended in the middle of a test")
        for waiter in waiters.values { waiter.resume(throwing: failure) }
        waiters = [:]
        for session in pages.keys {
            pages[session]?.loadWaiter?.resume(throwing: failure)
            pages[session]?.loadWaiter = nil
        }
    }
}
