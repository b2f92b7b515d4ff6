// swift-tools-version: 6.2
import PackageDescription

/// As the project's own package has it, and the code is instrumented: it counts its edges and shows the fuzzer what it compares.
let fuzzed: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-sanitize=fuzzer", "-enable-testing"]),
]

// A separate package, so that only the fuzzer builds instrumented code. The modules are linked to, and not used as
// products of the project's package: a target of another package sees only their public declarations.
let package = Package(
    name: "freshet-fuzzing",
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .systemLibrary(name: "CFreshetSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CFreshetLinux"),
        .systemLibrary(name: "CFreshetCrypto", pkgConfig: "libcrypto"),
        .target(name: "FreshetPlatform", dependencies: ["CFreshetLinux"], swiftSettings: fuzzed),
        .target(
            name: "FreshetWire", dependencies: ["FreshetPlatform", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: fuzzed),
        .target(name: "FreshetTrust", dependencies: ["CFreshetCrypto", "FreshetPlatform", "FreshetWire"], swiftSettings: fuzzed),
        .target(
            name: "FreshetSocketHTTP",
            dependencies: [
                "CFreshetLinux", "FreshetPlatform", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: fuzzed
        ),
        .executableTarget(
            name: "fuzz", dependencies: ["CFreshetCrypto", "CFreshetSQLite", "FreshetWire", "FreshetSocketHTTP", "FreshetTrust"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .unsafeFlags(["-parse-as-library"])]
        ),
    ]
)
