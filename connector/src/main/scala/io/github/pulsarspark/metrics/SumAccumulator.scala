package io.github.pulsarspark.metrics

import org.apache.spark.util.AccumulatorV2

/** Accumulator of Spark for any type with a sum: adds up the reports of tasks.
  *
  * @param zero
  *   the sum of nothing
  */
private[pulsarspark] abstract class SumAccumulator[A](zero: A) extends AccumulatorV2[A, A] {
  private var sum = zero

  protected def plus(one: A, more: A): A

  protected def fresh: SumAccumulator[A]

  override def add(more: A): Unit                      = sum = plus(sum, more)
  override def merge(other: AccumulatorV2[A, A]): Unit = add(other.value)
  override def reset(): Unit                           = sum = zero
  override def isZero: Boolean                         = sum == zero
  override def value: A                                = sum

  override def copy(): SumAccumulator[A] = {
    val result = fresh
    result.sum = sum
    result
  }
}
