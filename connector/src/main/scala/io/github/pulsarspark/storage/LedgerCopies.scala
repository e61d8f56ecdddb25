package io.github.pulsarspark.storage

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.segment.{HadoopSettings, LedgerMetadata, StoredLedger}
import io.github.pulsarspark.storage.offload.OffloadStore

/** Copies of ledgers that brokers offloaded. */
private[pulsarspark] object LedgerCopies {

  /** The file or folder of the copy of an offloaded ledger, by topic partition; None where it is not known.
    *
    * @param ledgers
    *   by topic partition
    */
  def locate(
      ledgers: Map[String, Seq[StoredLedger]],
      options: ReadOptions,
      admin: LedgerMetadata
  ): (String, StoredLedger) => Option[String] = {
    val offloaded = ledgers.map { case (p, all) => p -> all.filter(_.isOffloaded) }.filter(_._2.nonEmpty)
    val located   = new OffloadStore(options, HadoopSettings.none).locate(offloaded, admin)
    (p, ledger) => if (ledger.isOffloaded) located(p)(ledger).toOption.map(_.data.toString) else None
  }
}
