package io.github.pulsarspark.pulsar.producer

import org.apache.pulsar.client.api.HashingScheme

/** Selects partitions as the Java client does: the one that a row names, else by the key, else round-robin, one for a
  * whole batch at a time. Not thread-safe.
  *
  * @param start
  *   the first partition of rows without a key
  * @param isFixed
  *   whether rows without a key stay in the first partition: routing mode `SinglePartition`
  */
private[producer] final class PartitionChooser(scheme: HashingScheme, start: Int, isFixed: Boolean) {
  private var turn     = start
  private var isInTurn = false

  /** @param named
    *   index that the row names, -1 for none
    * @param key
    *   as messages carry it, null for none
    * @param partitions
    *   their current number, at least 1
    */
  def choose(named: Int, key: Array[Byte], partitions: Int): Int = {
    isInTurn = named < 0 && key == null
    if (named >= 0) named
    else if (partitions == 1) 0
    else if (key != null) MessageKey.hash(key, scheme) % partitions
    else turn                                          % partitions
  }

  /** The current partition and the next ones, when the last row went to the current one without a key; at most `most`.
    */
  def upcoming(most: Int, partitions: Int): Seq[Int] =
    if (!isInTurn || isFixed) Nil
    else (0 until math.min(most, partitions)).map(i => ((turn.toLong + i) % partitions).toInt)

  /** The batch of the current partition was sent: the next rows without a key go to the next one. */
  def advance(): Unit = if (!isFixed) turn = (turn + 1) & Int.MaxValue
}
