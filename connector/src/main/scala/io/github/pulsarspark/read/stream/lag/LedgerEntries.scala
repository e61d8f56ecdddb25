package io.github.pulsarspark.read.stream.lag

import scala.collection.immutable.ArraySeq

import io.github.pulsarspark.pulsar.admin.{JsonFields, LedgerSink}

/** Numbers of entries in the ledgers of a topic partition, as the admin service lists them.
  *
  * @param ids
  *   of closed ledgers, whose numbers of entries never change
  * @param entries
  *   of these ledgers, in the same order
  * @param newest
  *   the ledger that is being written
  */
private[stream] final case class LedgerEntries(ids: ArraySeq[Long], entries: ArraySeq[Long], newest: Long) {

  /** The number of entries in the ledger `from` and in those between it and `to`; None when the list is older than
    * `to`. A deleted ledger has none.
    */
  def through(from: Long, to: Long): Option[(Long, Long)] = Option.when(to <= newest) {
    val within = ids.indices.filter(i => ids(i) >= from && ids(i) < to)
    val first  = within.filter(ids(_) == from).map(entries).sum
    (first, within.map(entries).sum - first)
  }
}

private[stream] object LedgerEntries {
  val Unknown: LedgerEntries = LedgerEntries(ArraySeq.empty[Long], ArraySeq.empty[Long], -1)

  /** Parses an `internalStats` response.
    *
    * @param from
    *   the first ledger that is needed
    */
  final class Reader(from: Long) extends LedgerSink[LedgerEntries] {
    private val ids     = ArraySeq.newBuilder[Long]
    private val entries = ArraySeq.newBuilder[Long]
    private var newest  = -1L

    override def ledger(fields: JsonFields): Unit = {
      val id = fields.long("ledgerId")
      newest = math.max(newest, id)
      if (id >= from) {
        ids += id
        entries += fields.long("entries")
      }
    }

    override def end(fields: JsonFields): LedgerEntries = LedgerEntries(ids.result(), entries.result(), newest)
  }
}
