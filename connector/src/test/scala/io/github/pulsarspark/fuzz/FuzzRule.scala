package io.github.pulsarspark.fuzz

import java.lang.management.ManagementFactory

import scala.util.{Failure, Success, Try}

import com.sun.management.ThreadMXBean

import io.github.pulsarspark.errors.PulsarError

/** Rule of every decoder and all bytes: it returns or refuses them by name, soon, without a large allocation, and twice
  * with the same result.
  */
private[fuzz] object FuzzRule {

  /** Bytes that a decoder may allocate for each byte of its input: boxes, trees of JSON, texts of errors. */
  val BytesPerByte = 1024L

  /** CPU time of one input, many times what any takes after the first. */
  val MaxSeconds = 2.0

  private val threads = ManagementFactory.getThreadMXBean match {
    case measuring: ThreadMXBean => measuring
    case other                   => throw new IllegalStateException(other.toString)
  }

  /** Fails unless the decoder keeps to the rule. Errors of the JVM, such as a full stack or heap, pass through. The
    * lesser of two measures counts: what the JVM does now and then, such as growing a buffer that it keeps, does not
    * come from the bytes.
    */
  def check(target: FuzzTarget, bytes: Array[Byte], maxSeconds: Double = MaxSeconds): Unit = {
    outcome(target, bytes) // loads classes
    val (one, two) = (measured(target, bytes), measured(target, bytes))
    val allocated  = one.allocated.min(two.allocated)
    val seconds    = one.seconds.min(two.seconds)
    val most       = target.allowance + BytesPerByte * bytes.length
    broken(allocated > most, s"${bytes.length} bytes made it allocate $allocated bytes, more than $most")
    broken(seconds > maxSeconds, s"${bytes.length} bytes took $seconds s of a processor")
    broken(one.outcome != two.outcome, s"the same bytes were first ${one.outcome}, then ${two.outcome}")
  }

  private case class Measured(outcome: Either[String, String], allocated: Long, seconds: Double)

  private def measured(target: FuzzTarget, bytes: Array[Byte]): Measured = {
    val (allocated, began) = (threads.getCurrentThreadAllocatedBytes, threads.getCurrentThreadCpuTime)
    val found              = outcome(target, bytes)
    val seconds            = (threads.getCurrentThreadCpuTime - began) / 1e9
    Measured(found, threads.getCurrentThreadAllocatedBytes - allocated, seconds)
  }

  /** Result of the decoder, or the name by which it refused the bytes. */
  def outcome(target: FuzzTarget, bytes: Array[Byte]): Either[String, String] =
    Try(target.decode(bytes.clone())) match {
      case Success(result)                           => Right(text(result))
      case Failure(named: PulsarError)               => Left(named.condition)
      case Failure(e) if target.refusals(e.getClass) => Left(e.getClass.getSimpleName)
      case Failure(other)                            => throw new AssertionError("an exception without a name", other)
    }

  private def broken(isBroken: Boolean, what: String): Unit = if (isBroken) throw new AssertionError(what)

  private def text(result: Any): String = result match {
    case bytes: Array[Byte] => bytes.toSeq.toString
    case other              => String.valueOf(other)
  }
}
