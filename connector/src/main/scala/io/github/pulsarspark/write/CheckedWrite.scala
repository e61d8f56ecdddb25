package io.github.pulsarspark.write

import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration._

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.schema.WritePlan

/** The check of a stream's write, which requests the topic, its schema and a producer. Spark builds a new write for
  * each micro-batch and keeps the table, so the table holds this. The check is repeated after a minute, which is when a
  * new version of the schema is noticed, and after a failure.
  *
  * @param nanos
  *   the clock, as `System.nanoTime`
  */
private[pulsarspark] final class CheckedWrite(nanos: () => Long = () => System.nanoTime()) {
  import CheckedWrite._

  private val last = new AtomicReference[Option[Check]](None)

  /** The plan of the last check, or of a new one.
    *
    * @param check
    *   fails for a write that cannot work
    */
  def plan(input: StructType, options: WriteOptions)(check: => Option[WritePlan]): Option[WritePlan] =
    last.get
      .filter(c => c.input == input && c.options == options && nanos() - c.at < Ttl.toNanos)
      .getOrElse {
        val result = Check(input, options, check, nanos())
        last.set(Some(result))
        result
      }
      .plan

  /** The next micro-batch checks again. */
  def forget(): Unit = last.set(None)
}

private object CheckedWrite {
  private val Ttl: FiniteDuration = 1.minute

  private final case class Check(input: StructType, options: WriteOptions, plan: Option[WritePlan], at: Long)
}
