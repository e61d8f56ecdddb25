package io.github.pulsarspark.inspect.doctor

import java.util.concurrent.{CompletionException, ExecutionException, TimeUnit, TimeoutException}

import scala.annotation.tailrec
import scala.concurrent.duration._

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.{Conditions, Occurrence, PulsarError}

/** Runs checks one after the other, each with a deadline, all within one. Work that goes on after its deadline is left
  * to its thread, so that nothing waits for it.
  *
  * @param subject
  *   the address that errors name
  * @param patience
  *   deadline of each check
  * @param total
  *   deadline of all of them
  */
private[doctor] final class Examination(
    subject: String,
    patience: FiniteDuration,
    total: FiniteDuration,
    nanos: () => Long = () => System.nanoTime()
) {
  import Examination._

  def apply(checks: Seq[Check]): Seq[Step] = {
    val threads = new BlockingParallel("pulsar-spark-doctor", math.max(1, checks.size))
    val until   = nanos() + total.toNanos
    try checks.foldLeft(Progress())((before, check) => before.and(check, step(check, before, threads, until))).steps
    finally {
      threads.stop(0)
      ()
    }
  }

  private def step(check: Check, before: Progress, threads: BlockingParallel, until: Long): Step = {
    val began   = nanos()
    val left    = (until - began).nanos
    val finding = check.needs.find(before.closed) match {
      case Some(need)             => Finding.Skipped(s"the step `$need` has to work first")
      case None if left < 1.milli => Finding.Skipped(s"the time of all steps, ${total.toSeconds} s, is over")
      case None                   => within(check, threads, patience min left)
    }
    Step(check.name, finding.state, (nanos() - began).nanos, finding.detail, finding.problem)
  }

  private def within(check: Check, threads: BlockingParallel, time: FiniteDuration): Finding =
    try threads.start(check.work).get(time.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => Finding.Bad(problem(check, e.getCause))
      case _: TimeoutException   =>
        Finding.Bad(Conditions.Unreachable(what = s"The step `${check.name}`", url = subject,
          waited = time.toMillis.toString, cause = ""))
    }

  /** An error without a name may repeat a setting in its text. */
  @tailrec
  private def problem(check: Check, failure: Throwable): Occurrence = failure match {
    case e: CompletionException if e.getCause != null => problem(check, e.getCause)
    case error: PulsarError                           => Occurrence.of(error)
    case other => Conditions.Internal(what = other.getClass.getName, where = s"the step `${check.name}`")
  }
}

private object Examination {

  /** @param closed
    *   the steps after which those that need them cannot run
    */
  private final case class Progress(steps: Vector[Step] = Vector.empty, closed: Set[String] = Set.empty) {

    def and(check: Check, step: Step): Progress = {
      val isClosed = step.state == "fail" || check.needs.exists(closed)
      Progress(steps :+ step, if (isClosed) closed + check.name else closed)
    }
  }
}
