import sbt._

/** What the connector is built from, split by where it comes from at run time. */
object Dependencies {

  /** Travels inside our jar, relocated. */
  val bundled: Seq[ModuleID] = Seq(
    "org.apache.pulsar" % "pulsar-client-original"         % Versions.pulsar,
    "org.apache.pulsar" % "pulsar-client-messagecrypto-bc" % Versions.pulsar,
    // in place of bouncy-castle-bc, which is a jar of jars that no class loader opens
    "org.bouncycastle"       % "bcprov-jdk18on"    % Versions.bouncyCastle,
    "org.bouncycastle"       % "bcpkix-jdk18on"    % Versions.bouncyCastle,
    ("org.apache.bookkeeper" % "bookkeeper-server" % Versions.bookKeeper).excludeAll(ofBookies: _*)
  )

  /** What only a BookKeeper server needs; its client comes in the server's jar. */
  private lazy val ofBookies: Seq[ExclusionRule] = Seq(
    ExclusionRule("org.rocksdb"),
    ExclusionRule("org.bouncycastle"),
    ExclusionRule("com.beust"),
    ExclusionRule("org.apache.httpcomponents"),
    ExclusionRule("org.apache.bookkeeper.http"),
    ExclusionRule("org.apache.bookkeeper", "native-io"),
    ExclusionRule("org.apache.bookkeeper", "testtools"),
    ExclusionRule("org.apache.bookkeeper", "bookkeeper-tools-framework"),
    ExclusionRule("io.reactivex.rxjava3"),
    ExclusionRule("com.carrotsearch"),
    ExclusionRule("commons-cli"),
    ExclusionRule("ch.qos.logback"),
    ExclusionRule("org.apache.logging.log4j"),
    ExclusionRule("org.xerial.snappy"),
    ExclusionRule("io.dropwizard.metrics"),
    ExclusionRule("org.apache.yetus"),
    ExclusionRule("io.netty", "netty-transport-native-epoll") // the Pulsar client brings it for every platform
  )

  /** Comes with Spark. */
  val provided: Seq[ModuleID] = Seq("org.apache.spark" %% "spark-sql" % Versions.spark % Provided)

  /** Interfaces of real-time mode, and what their signatures name. */
  val realTime: Seq[ModuleID] = Seq(
    "org.apache.spark" % "spark-catalyst_2.13"     % Versions.sparkRealTime % Provided intransitive (),
    "org.apache.spark" % "spark-sql-api_2.13"      % Versions.sparkRealTime % Provided intransitive (),
    "org.apache.spark" % "spark-common-utils_2.13" % Versions.sparkRealTime % Provided intransitive (),
    "org.scala-lang"   % "scala-library"           % Versions.scala         % Provided
  )

  val tests: Seq[ModuleID] = Seq(
    "org.scalameta" %% "munit"            % Versions.munit      % Test,
    "org.scalameta" %% "munit-scalacheck" % Versions.scalacheck % Test
  )

  /** The next client in place of the one in the jar. The other clients stay what they are. */
  val next: Seq[ModuleID] = Seq(
    ("org.apache.pulsar"     % "pulsar-client-original"         % Versions.pulsarNext).excludeAll(notServed: _*),
    ("org.apache.pulsar"     % "pulsar-client-messagecrypto-bc" % Versions.pulsarNext).excludeAll(notServed: _*),
    "org.asynchttpclient"    % "async-http-client"              % Versions.asyncHttpClient,
    ("org.apache.bookkeeper" % "bookkeeper-server"              % Versions.bookKeeper).excludeAll(ofBookies: _*)
  )

  /** Parts of the next client that the registry lacks, or lacks the parent POM of. The sources use none of them. */
  private lazy val notServed: Seq[ExclusionRule] = Seq(
    ExclusionRule("com.fasterxml.jackson.module", "jackson-module-jsonSchema"),
    ExclusionRule("com.typesafe.netty"),
    ExclusionRule("io.netty", "netty-resolver-dns-native-macos"),
    ExclusionRule("io.netty", "netty-transport-native-epoll"),
    ExclusionRule("io.netty", "netty-transport-native-io_uring"),
    ExclusionRule("org.apache.bookkeeper"),
    ExclusionRule("org.asynchttpclient")
  )

  val fuzzing: Seq[ModuleID] = Seq("com.code-intelligence" % "jazzer" % Versions.jazzer)

  /** Brought along by the Pulsar client and wanted nowhere: the jar of jars, and annotations only compilers read. */
  val unwanted: Seq[ExclusionRule] = Seq(
    ExclusionRule("org.apache.pulsar", "bouncy-castle-bc"),
    ExclusionRule("com.google.errorprone"),
    ExclusionRule("com.google.j2objc"),
    ExclusionRule("com.google.guava", "listenablefuture"),
    ExclusionRule("org.jspecify")
  )

  /** Left out of the jar because Spark's own copy must be used (logging) or because no path of a client reaches it. */
  val notBundled: Seq[ExclusionRule] = unwanted ++ Seq(
    ExclusionRule("org.slf4j"),
    ExclusionRule("org.apache.logging.log4j"),
    ExclusionRule("org.apache.commons", "commons-compress")
  )
}
