import sbt._
import sbt.Tests.{Group, SubProcess}

/** Suites in two JVMs, which run at the same time: each suite waits for deadlines while the other JVM works. Suites of
  * one JVM run one after the other, for they share its clients and caches.
  */
object TestGroups {
  val AtOnce = 2

  /** Neighbours by the names of their classes are in different JVMs, so those of one kind are spread. */
  def apply(suites: Seq[TestDefinition], options: ForkOptions): Seq[Group] = {
    val spread = suites.sortBy(suite => (suite.name.split('.').last, suite.name)).zipWithIndex
    (0 until AtOnce).map { number =>
      val some = spread.collect { case (suite, place) if place % AtOnce == number => suite }
      Group(s"suites ${number + 1} of $AtOnce", some, SubProcess(options))
    }
  }
}
