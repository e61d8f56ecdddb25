package io.github.pulsarspark.read.stream.limits

/** Shares the budget of a trigger among topic partitions. Pure. */
private[stream] object Admission {

  /** Max-min fair shares: each partition gets what it needs, or as much as any other. The unused part of a share goes
    * to the others. The shares add up to the budget, unless all needs are met with less. An indivisible rest is
    * distributed round-robin.
    *
    * @param needs
    *   how much each partition can use
    * @param after
    *   the partition that was served last; the rest goes first to the next one in alphabetical order
    * @return
    *   shares above 0
    */
  def share(needs: Map[String, Long], budget: Long, after: String): Map[String, Long] = {
    val (met, rest)       = satisfied(needs.toList.filter(_._2 > 0).sortBy(_._2), budget, Map.empty)
    val others            = inTurn(needs.keys.filter(p => needs(p) > 0 && !met.contains(p)), after)
    val (each, undivided) = if (others.isEmpty) (0L, 0L) else (rest / others.size, rest % others.size)
    val shared            = others.zipWithIndex.map { case (p, i) => p -> (each + (if (i < undivided) 1 else 0)) }
    met ++ shared.filter(_._2 > 0)
  }

  /** Grants full needs to partitions whose need is no larger than an equal share. Returns them with the rest of the
    * budget.
    */
  @scala.annotation.tailrec
  private def satisfied(
      smallestFirst: List[(String, Long)],
      budget: Long,
      met: Map[String, Long]
  ): (Map[String, Long], Long) = smallestFirst match {
    case (partition, need) :: rest if need <= budget / smallestFirst.size =>
      satisfied(rest, budget - need, met + (partition -> need))
    case _ => (met, budget)
  }

  /** Partitions in alphabetical order, starting with the first one after `last`. */
  def inTurn(partitions: Iterable[String], last: String): Seq[String] = {
    val (before, after) = partitions.toSeq.sorted.partition(_ <= last)
    after ++ before
  }
}
