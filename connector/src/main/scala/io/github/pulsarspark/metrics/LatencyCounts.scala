package io.github.pulsarspark.metrics

/** Numbers of messages by the time from their publication to their row, in milliseconds. Exact below 16 ms, then within
  * an eighth. A clock of the producer that is ahead of this one makes the time negative: it counts as 0.
  */
private[pulsarspark] final class LatencyCounts {
  import LatencyCounts._

  private val counts = new Array[Long](Buckets)

  def add(millis: Long): Unit = counts(bucket(millis)) += 1

  /** The numbers above 0, by bucket. */
  def counted: Map[Int, Long] = counts.iterator.zipWithIndex.collect { case (n, i) if n > 0 => i -> n }.toMap
}

private[pulsarspark] object LatencyCounts {
  private val Exact   = 16
  private val Buckets = Exact + (63 - 4) * 8

  /** The bucket of a time. */
  private[metrics] def bucket(millis: Long): Int =
    if (millis < Exact) math.max(0L, millis).toInt
    else {
      val exponent = 63 - java.lang.Long.numberOfLeadingZeros(millis) // 4 for 16 to 31
      Exact + (exponent - 4) * 8 + ((millis >> (exponent - 3)) & 7).toInt
    }

  /** The longest time in a bucket. */
  private[metrics] def longest(bucket: Int): Long =
    if (bucket < Exact) bucket.toLong
    else {
      val exponent = (bucket - Exact) / 8 + 4
      ((9L + (bucket - Exact) % 8) << (exponent - 3)) - 1
    }

  /** The time within which this part of the messages became rows; None without messages.
    *
    * @param part
    *   of 1
    */
  def percentile(counts: Map[Int, Long], part: Double): Option[Long] = {
    val rank = math.max(1L, math.ceil(counts.values.sum * part).toLong)
    counts.toSeq.sorted.iterator.scanLeft((0, 0L)) { case ((_, sum), (bucket, n)) => (bucket, sum + n) }
      .drop(1).find(_._2 >= rank).map(found => longest(found._1))
  }

  /** The numbers of all tasks of a query. */
  final class Total extends SumAccumulator(Map.empty[Int, Long]) {
    override protected def fresh: Total = new Total

    override protected def plus(some: Map[Int, Long], more: Map[Int, Long]): Map[Int, Long] =
      more.foldLeft(some) { case (sum, (bucket, n)) => sum.updated(bucket, sum.getOrElse(bucket, 0L) + n) }
  }
}
