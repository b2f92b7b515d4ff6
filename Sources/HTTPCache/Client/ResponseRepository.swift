internal import HTTPTypes
internal import Logging

/// Finds and stores responses in a store. The callers ensure that writes to one URL do not overlap.
struct ResponseRepository: Sendable {
    let store: any HTTPCacheStore
    let logger: Logger

    /// Returns the stored response to a request, or `nil`. A store that fails, and bytes that are no record, count as
    /// no response.
    func response(for request: HTTPRequest, at url: HTTPURL) async -> StoredHTTPResponse? {
        await response(in: record(named: HTTPCacheRecord.name(of: url)), for: request, at: url)
    }

    /// Returns the stored response to a request, given the record of its URL.
    private func response(in record: HTTPCacheRecord?, for request: HTTPRequest, at url: HTTPURL) async -> StoredHTTPResponse? {
        switch record {
        case .response(let response)?: return fitting(response, request, url)
        case .variants(let variants)?:
            for variant in variants where variant.matches(request) {
                guard case .response(let response)? = await self.record(named: HTTPCacheRecord.name(of: variant, at: url)) else { continue }
                if let response = fitting(response, request, url) { return response }
            }
            return nil
        case nil: return nil
        }
    }

    /// Stores a response in place of an earlier one to the same request, unless another request has meanwhile stored a
    /// newer one.
    ///
    /// - Parameter freshened: the stored response of which this one is a copy with new fields, if it is one.
    /// - Returns: whether it was stored.
    func keep(
        _ response: StoredHTTPResponse, for request: HTTPRequest, freshening freshened: StoredHTTPResponse? = nil
    ) async throws -> Bool {
        let name = HTTPCacheRecord.name(of: response.url)
        let record = await record(named: name)
        let current = await self.response(in: record, for: request, at: response.url)
        guard freshened.map({ current?.isCopy(of: $0) ?? false }) ?? !response.isOvertaken(by: current) else { return false }
        var old: [VarySelection] = []
        if case .variants(let variants)? = record { old = variants }
        guard response.isSelected else {
            // This response applies to all requests, and is the newest.
            try await store.store(HTTPCacheRecord.response(response).encoded, named: name)
            for variant in old { try await store.remove(named: HTTPCacheRecord.name(of: variant, at: response.url)) }
            return true
        }
        let replaced = (freshened?.selection).flatMap { $0 != response.selection && old.contains($0) ? $0 : nil }
        let all = [response.selection] + old.filter { $0 != response.selection && $0 != replaced }
        // The variant first: a list with a missing variant does no harm, but a variant that is in no list would never
        // be found.
        try await store.store(
            HTTPCacheRecord.response(response).encoded, named: HTTPCacheRecord.name(of: response.selection, at: response.url))
        try await store.store(HTTPCacheRecord.variants(Array(all.prefix(HTTPCacheRecord.mostVariants))).encoded, named: name)
        for variant in all.dropFirst(HTTPCacheRecord.mostVariants) + (replaced.map { [$0] } ?? []) {
            try await store.remove(named: HTTPCacheRecord.name(of: variant, at: response.url))
        }
        return true
    }

    /// Removes all stored responses of a URL.
    func remove(_ url: HTTPURL) async throws {
        let name = HTTPCacheRecord.name(of: url)
        let old = await variants(named: name)
        // The list first: without it no variant is found.
        try await store.remove(named: name)
        for variant in old { try await store.remove(named: HTTPCacheRecord.name(of: variant, at: url)) }
    }

    /// Returns the response only if its record is for this URL and matches the request.
    private func fitting(_ response: StoredHTTPResponse, _ request: HTTPRequest, _ url: HTTPURL) -> StoredHTTPResponse? {
        response.url == url && response.selection.matches(request) ? response : nil
    }

    private func variants(named name: String) async -> [VarySelection] {
        guard case .variants(let variants)? = await record(named: name) else { return [] }
        return variants
    }

    private func record(named name: String) async -> HTTPCacheRecord? {
        do {
            guard let bytes = try await store.bytes(named: name) else { return nil }
            let record = HTTPCacheRecord(encoded: bytes)
            if record == nil { logger.notice("a stored response is damaged and counts as none", metadata: ["name": "\(name)"]) }
            return record
        } catch is CancellationError {
            return nil
        } catch {
            logger.warning("the store of responses cannot be read", metadata: ["name": "\(name)", "error": "\(error)"])
            return nil
        }
    }
}
