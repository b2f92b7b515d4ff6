// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours compiles in Swift 6 mode with warnings as errors.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// #embed is of C23, which SwiftPM cannot ask for; the compiler takes it in earlier C with this warning.
let embedding: [CSetting] = [.treatAllWarnings(as: .error), .disableWarning("c23-extensions")]

let package = Package(
    name: "freshet",
    products: [
        .library(name: "FreshetCache", targets: ["FreshetCache"]),
        .library(name: "FreshetCacheEncryption", targets: ["FreshetCacheEncryption"]),
        .library(name: "FreshetHTTPCache", targets: ["FreshetHTTPCache"]),
        .library(name: "FreshetServer", targets: ["FreshetServer"]),
        .library(name: "FreshetWire", targets: ["FreshetWire"]),
        .library(name: "FreshetClient", targets: ["FreshetClient"]),
        .library(name: "FreshetService", targets: ["FreshetService"]),
        .library(name: "FreshetTestKit", targets: ["FreshetTestKit"]),
        .library(name: "FreshetSimulator", targets: ["FreshetSimulator"]),
        .library(name: "FreshetPostgreSQLStore", targets: ["FreshetPostgreSQLStore"]),
        .executable(name: "freshet", targets: ["freshet"]),
    ],
    traits: [
        .trait(
            name: "PostgreSQL", description: "Servers can keep their records in PostgreSQL. Needs libpq, which the default does without.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Tests alone.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // System libraries and the C that Swift cannot import by itself.
        .systemLibrary(name: "CFreshetSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CFreshetCurl", path: "Sources/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CFreshetCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CFreshetTLS", path: "Sources/CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CFreshetLinux", path: "Sources/CLinux"),
        // Only with the trait: docs/decisions/0062-postgresql-store.md.
        .systemLibrary(name: "CFreshetPostgreSQL", path: "Sources/CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        // Files that the program contains, by C's #embed: docs/decisions/0044-embedded-files.md.
        .target(name: "CFreshetOpenAPI", exclude: ["document"], cSettings: embedding),
        .target(name: "CFreshetReport", exclude: ["page"], cSettings: embedding),

        .target(
            name: "FreshetPlatform", dependencies: ["CFreshetLinux"], path: "Sources/Platform", exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "FreshetWire",
            dependencies: ["FreshetPlatform", .product(name: "HTTPTypes", package: "swift-http-types")],
            path: "Sources/Wire",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetTrust", dependencies: ["CFreshetCrypto", "FreshetPlatform", "FreshetWire"], path: "Sources/Trust",
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "FreshetSQLite", dependencies: ["CFreshetLinux", "CFreshetSQLite"], path: "Sources/SQLite", exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "FreshetCache",
            dependencies: [
                "CFreshetLinux", "FreshetPlatform", "FreshetSQLite",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Cache",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        // By itself, so that a cache without encryption does not link libcrypto.
        .target(
            name: "FreshetCacheEncryption", dependencies: ["CFreshetCrypto", "FreshetCache"], path: "Sources/CacheEncryption",
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "FreshetTransport",
            dependencies: ["CFreshetCurl", "FreshetPlatform", .product(name: "HTTPTypes", package: "swift-http-types")],
            path: "Sources/Transport",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetHTTPCache",
            dependencies: [
                "FreshetCache", "FreshetPlatform", "FreshetTransport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/HTTPCache",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetSocketHTTP",
            dependencies: [
                "CFreshetLinux", "FreshetPlatform",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/SocketHTTP",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetTLS", dependencies: ["CFreshetTLS", "FreshetPlatform", "FreshetSocketHTTP"], path: "Sources/TLS",
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "FreshetServer",
            dependencies: [
                "CFreshetOpenAPI", "FreshetPlatform", "FreshetTLS", "FreshetTrust", "FreshetWire", "FreshetSQLite", "FreshetSocketHTTP",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Server",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetPostgreSQL",
            dependencies: [.target(name: "CFreshetPostgreSQL", condition: .when(traits: ["PostgreSQL"])), "FreshetPlatform"],
            path: "Sources/PostgreSQL",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetPostgreSQLStore",
            dependencies: [
                "FreshetPlatform", "FreshetPostgreSQL", "FreshetServer", "FreshetWire", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/PostgreSQLStore",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetClient",
            dependencies: [
                "FreshetCache", "FreshetPlatform", "FreshetSQLite", "FreshetTransport", "FreshetWire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/ClientSDK",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetSimulator",
            dependencies: [
                "CFreshetReport", "FreshetClient", "FreshetServer", "FreshetTransport", "FreshetTrust", "FreshetWire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Sources/Simulator",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetFaultProxy",
            dependencies: [
                "CFreshetLinux", "FreshetPlatform", "FreshetServer", "FreshetSocketHTTP", "FreshetWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/FaultProxy",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .target(
            name: "FreshetTestKit",
            dependencies: [
                "FreshetClient", "FreshetFaultProxy", "FreshetPlatform", "FreshetServer", "FreshetWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/TestKit",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        // By itself, so that neither the server nor the client depends on swift-service-lifecycle.
        .target(
            name: "FreshetService",
            dependencies: [
                "FreshetClient", "FreshetServer", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Service",
            exclude: ["README.md"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "freshet",
            dependencies: [
                "CFreshetLinux", "FreshetCache", "FreshetClient", "FreshetFaultProxy", "FreshetPlatform", "FreshetServer",
                "FreshetService", "FreshetSimulator", "FreshetSQLite", "FreshetSocketHTTP", "FreshetTransport", "FreshetTrust",
                "FreshetWire",
                .target(name: "FreshetPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "FreshetPostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Sources/CLI",
            exclude: ["README.md"],
            swiftSettings: strict
        ),

        // One folder of tests per target, and what they share.
        .target(
            name: "FreshetTestSupport",
            dependencies: [
                "CFreshetCrypto", "FreshetTrust",
                .product(name: "Subprocess", package: "swift-subprocess"), .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "DeviceProcess", dependencies: ["FreshetClient", "FreshetTestSupport"], path: "Tests/DeviceProcess", swiftSettings: strict
        ),
        .executableTarget(
            name: "CacheProcess", dependencies: ["FreshetCache", "FreshetTestSupport"], path: "Tests/CacheProcess", swiftSettings: strict),
        .testTarget(name: "PlatformTests", dependencies: ["FreshetPlatform", "FreshetTestSupport"], swiftSettings: strict),
        .testTarget(name: "WireTests", dependencies: ["FreshetWire"], swiftSettings: strict),
        .testTarget(
            name: "TrustTests", dependencies: ["CFreshetCrypto", "FreshetPlatform", "FreshetTestSupport", "FreshetTrust", "FreshetWire"],
            swiftSettings: strict),
        .testTarget(name: "SQLiteTests", dependencies: ["FreshetSQLite", "FreshetTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "CacheTests",
            dependencies: [
                "CacheProcess", "FreshetCache", "FreshetCacheEncryption", "FreshetSQLite", "FreshetTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "FreshetPlatform", "FreshetTestSupport", "FreshetTransport", .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPCacheTests", dependencies: ["FreshetCache", "FreshetHTTPCache", "FreshetPlatform", "FreshetTestSupport"],
            swiftSettings: strict),
        .testTarget(name: "SocketHTTPTests", dependencies: ["CFreshetLinux", "FreshetSocketHTTP"], swiftSettings: strict),
        .testTarget(
            name: "TLSTests",
            dependencies: [
                "CFreshetTLS", "FreshetPlatform", "FreshetSocketHTTP", "FreshetTLS", "FreshetTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PostgreSQLTests", dependencies: ["FreshetPlatform", "FreshetPostgreSQL", "FreshetTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "FreshetServer", "FreshetTestSupport",
                .target(name: "FreshetPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "FreshetPostgreSQLStore", condition: .when(traits: ["PostgreSQL"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "FaultProxyTests",
            dependencies: [
                "FreshetFaultProxy", "FreshetServer", "FreshetTestSupport", "FreshetWire", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ClientSDKTests",
            dependencies: [
                "FreshetClient", "FreshetFaultProxy", "FreshetPlatform", "FreshetServer", "FreshetTestSupport", "FreshetTransport",
                "FreshetWire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "FreshetClient", "FreshetServer", "FreshetService", "FreshetTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulatorTests",
            dependencies: ["FreshetSimulator", "FreshetWire", "FreshetTestSupport"],
            exclude: ["RareBugs", "Regressions"],
            swiftSettings: strict
        ),
        // By itself, since its tests need a browser.
        .testTarget(name: "ReportTests", dependencies: ["FreshetSimulator", "FreshetTestSupport"], swiftSettings: strict),
        // The examples are packages of their own too; here they are built and run with the rest.
        .executableTarget(
            name: "Kiosk", dependencies: ["FreshetClient", "FreshetWire"], path: "Examples/Kiosk/Sources/Kiosk", swiftSettings: strict),
        .target(name: "Till", dependencies: ["FreshetClient"], path: "Examples/SwiftTesting/Sources/Till", swiftSettings: strict),
        .testTarget(
            name: "TillTests", dependencies: ["FreshetClient", "FreshetTestKit", "Till"], path: "Examples/SwiftTesting/Tests/TillTests",
            swiftSettings: strict),
        .testTarget(
            name: "TestKitTests",
            dependencies: [
                "FreshetClient", "FreshetServer", "FreshetTestKit", "FreshetTestSupport", "FreshetWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CLITests",
            dependencies: [
                "freshet", "FreshetCache", "FreshetCacheEncryption", "FreshetClient", "FreshetFaultProxy", "FreshetServer",
                "FreshetSimulator", "FreshetWire", "FreshetSQLite", "FreshetTestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "DeviceProcess", "FreshetClient", "FreshetFaultProxy", "FreshetServer", "FreshetWire", "Kiosk", "FreshetTestSupport",
                "freshet",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict
        ),
    ]
)
