import sbt._
import sbt.Tests.{Group, SubProcess}

/** Suites in three JVMs, which run at the same time: each suite waits for deadlines while other JVMs work. Suites of
  * one JVM run one after the other, for they share its clients and caches.
  */
object TestGroups {
  val AtOnce = 3

  /** Half of the time of all suites, the longest first. */
  private val Longest = Seq(
    "BookieProtocolEntrySourceSuite",
    "BacklogBatchesSuite",
    "WireConnectionsSuite",
    "SplitPointLoaderSuite",
    "ReachabilitySuite",
    "BrokerEntrySourceSuite",
    "TransactionCoordinatorSuite",
    "FollowParitySuite",
    "TlsCheckSuite",
    "LastMessagesSuite",
    "TlsContextsSuite",
    "PulsarFileSystemSuite",
    "EntryDecoderSuite",
    "RealTimeBatchesSuite",
    "ClientSettingsSuite",
    "LevelParitySuite"
  )

  /** Long suites are spread, and so are neighbours by the names of their classes: those of one kind. */
  def apply(suites: Seq[TestDefinition], options: ForkOptions): Seq[Group] = {
    val spread = suites.sortBy(suite => (rank(suite), suite.name.split('.').last, suite.name)).zipWithIndex
    (0 until AtOnce).map { number =>
      val some = spread.collect { case (suite, place) if place % AtOnce == number => suite }
      Group(s"suites ${number + 1} of $AtOnce", some, SubProcess(options))
    }
  }

  private def rank(suite: TestDefinition) = {
    val place = Longest.indexOf(suite.name.split('.').last)
    if (place < 0) Longest.size else place
  }
}
