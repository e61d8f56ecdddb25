package io.github.pulsarspark.micro

import java.lang.management.ManagementFactory

/** Measures cases in turns, so that a change of the machine's load meets all of them. */
object Turns {

  /** @param job
    *   what is done; equal for the contenders that are compared
    * @param records
    *   how many of them `pass` handles
    */
  final case class Case(job: String, contender: String, records: Int, pass: () => Unit)

  private val WarmUp     = 5
  private val RoundNanos = 150e6
  private val clock      = ManagementFactory.getThreadMXBean

  /** Nanoseconds of CPU per record, the median of the rounds. CPU time of this thread, so that other work on the
    * machine does not count.
    */
  def apply(cases: Seq[Case], rounds: Int): Seq[(Case, Double)] = {
    val spent = Seq.fill(WarmUp + rounds)(cases.map(round)).drop(WarmUp).transpose
    cases.zip(spent.map(_.sorted.apply(rounds / 2)))
  }

  private def round(c: Case): Double = {
    val start  = clock.getCurrentThreadCpuTime
    var passes = 0
    while (clock.getCurrentThreadCpuTime - start < RoundNanos) {
      c.pass()
      passes += 1
    }
    (clock.getCurrentThreadCpuTime - start).toDouble / passes / c.records
  }
}
