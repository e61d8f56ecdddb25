package io.github.pulsarspark.inspect.doctor

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.Conditions

class ExaminationSuite extends UnitSuite {

  private val Url = "pulsar://h:6650"

  private def examined(checks: Check*)(patience: FiniteDuration, total: FiniteDuration = 1.minute): Seq[Step] =
    new Examination(Url, patience, total)(checks)

  private def states(steps: Seq[Step]) = steps.map(s => s.name -> s.state)

  private def good(name: String, needs: String*) = Check(name, needs: _*)(() => Finding.Good("fine"))

  private def conflict = Conditions.OptionConflict(first = "a", second = "b")

  test("steps come in their order; a named error is a failure with its condition and its one action") {
    val steps = examined(good("one"), Check("two")(() => throw conflict.exception), good("three"))(10.seconds)
    assertEquals(states(steps), Seq("one" -> "ok", "two" -> "fail", "three" -> "ok"))
    assertEquals(steps(1).detail, "Options `a` and `b` cannot be combined.")
    assertEquals(steps(1).problem.map(p => p.condition.name -> p.action),
      Some("PULSAR_OPTION_CONFLICT" -> "Set only one of them."))
  }

  test("after a failure only what needs it is left out, also what needs that; a warning and a skip leave nothing out") {
    val steps = examined(
      Check("login")(() => Finding.Bad(conflict)),
      good("topic", "login"),
      good("schema", "topic"),
      Check("expiry")(() => Finding.Doubtful(conflict)),
      Check("proxy")(() => Finding.Skipped("there is none")),
      good("admin", "expiry", "proxy")
    )(10.seconds)
    assertEquals(states(steps).map(_._2), Seq("fail", "skipped", "skipped", "warn", "skipped", "ok"))
    assertEquals(steps(1).detail, "the step `login` has to work first")
    assertEquals(steps(2).problem, None)
  }

  test("a step that hangs fails in its time, and the others run") {
    val end = new CountDownLatch(1)
    try {
      val began = System.nanoTime()
      val steps = examined(
        Check("storage") { () =>
          end.await()
          Finding.Good("")
        },
        good("next")
      )(200.millis)
      assert((System.nanoTime() - began).nanos < 20.seconds)
      assertEquals(states(steps).map(_._2), Seq("fail", "ok"))
      assertEquals(steps.head.detail, s"The step `storage` received no response from $Url within 200 ms.")
      assertEquals(steps.head.problem.map(_.condition.name), Some("PULSAR_UNREACHABLE"))
    } finally end.countDown()
  }

  test("all steps together have a deadline") {
    val end = new CountDownLatch(1)
    try {
      val slow = Check("slow") { () =>
        end.await()
        Finding.Good("")
      }
      val steps = examined(slow, good("late"))(1.minute, 300.millis)
      assertEquals(states(steps), Seq("slow" -> "fail", "late" -> "skipped"))
      assert(steps(1).detail.startsWith("the time of all steps"), steps(1).detail)
    } finally end.countDown()
  }

  test("an error without a name shows its class and not its text, which may repeat a secret") {
    val steps = examined(Check("login")(() => throw new IllegalStateException("canary")))(10.seconds)
    assertEquals(steps.head.problem.map(_.condition.name), Some("PULSAR_INTERNAL"))
    assertEquals(steps.head.detail, "Internal error: java.lang.IllegalStateException in the step `login`.")
  }

  test("of several ways one that is open is enough") {
    val bad = Finding.Bad(conflict)
    assertEquals(Finding.either(Seq(Finding.Good("a"), Finding.Good("a"), Finding.Good("b"))), Finding.Good("a, b"))
    assertEquals(Finding.either(Seq(bad, Finding.Good("a"))), Finding.Doubtful(conflict))
    assertEquals(Finding.either(Seq(bad, bad)), bad)
  }

  test("a line of Spark that the connector is not made for") {
    val steps = examined(new VersionsCheck("1.2.3", "4.2.4", "3.5.1").check, new VersionsCheck("1.2.3", "4.2.4").check)(
      10.seconds
    )
    assertEquals(steps.head.problem.map(_.condition.name), Some("PULSAR_SPARK_VERSION"))
    assert(steps(1).detail.endsWith("connector 1.2.3, Pulsar client 4.2.4"), steps(1).detail)
  }
}
