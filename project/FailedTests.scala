import sbt._
import sbt.testing.{Event, Status, TestSelector}

/** Names the tests that failed once more after the last test, where they are easy to find. */
object FailedTests extends TestsListener {
  private val failed = new java.util.concurrent.ConcurrentLinkedQueue[String]

  override def doInit(): Unit = ()

  override def startGroup(name: String): Unit = ()

  override def testEvent(event: TestEvent): Unit = event.detail.filter(isFailure).foreach(e => failed.add(shown(e)))

  override def endGroup(name: String, error: Throwable): Unit = { failed.add(s"$name: $error"); () }

  override def endGroup(name: String, result: TestResult): Unit = ()

  /** Each JVM that runs suites ends with it, so what is printed is forgotten. */
  override def doComplete(result: TestResult): Unit =
    Iterator.continually(failed.poll()).takeWhile(_ != null).foreach(test => println(s"[error] failed: $test"))

  private def isFailure(event: Event) = event.status == Status.Failure || event.status == Status.Error

  private def shown(event: Event) = {
    val test = event.selector match {
      case one: TestSelector => one.testName
      case other             => s"${event.fullyQualifiedName}, $other"
    }
    val cause = if (event.throwable.isDefined)
      event.throwable.get.toString.linesIterator.take(12).mkString("\n    ", "\n    ", "")
    else ""
    test + cause
  }
}
