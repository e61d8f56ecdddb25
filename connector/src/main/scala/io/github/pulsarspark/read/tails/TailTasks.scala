package io.github.pulsarspark.read.tails

/** Divides topic partitions among the tasks of a query in real-time mode. Pure. */
private[pulsarspark] object TailTasks {

  /** Number of tasks at most: half of those that the cluster runs at a time, unless the user chose a number.
    *
    * @param slots
    *   tasks that the cluster runs at a time
    */
  def most(chosen: Option[Int], slots: Int): Int = chosen.getOrElse(math.max(1, slots / 2))

  /** The partitions of each task. Those with a backlog come first, so that each task has as many of them as any other.
    * Without a partition one task waits for the end of the batch, which else would begin again at once.
    */
  def divide[A](partitions: Seq[A], most: Int)(isBehind: A => Boolean): Seq[Seq[A]] = {
    val (behind, others) = partitions.partition(isBehind)
    val number           = math.min(most, partitions.size)
    if (partitions.isEmpty) Seq(Nil)
    else (behind ++ others).zipWithIndex.groupMap { case (_, i) => i % number }(_._1).toSeq.sortBy(_._1).map(_._2)
  }

  /** The partitions of each task, from another one on in each batch: where rows take long, a batch may have no time for
    * the last ones.
    */
  def turned[A](tasks: Seq[Seq[A]], batch: Int): Seq[Seq[A]] = tasks.map { all =>
    val (first, others) = all.splitAt(batch % math.max(1, all.size))
    others ++ first
  }
}
