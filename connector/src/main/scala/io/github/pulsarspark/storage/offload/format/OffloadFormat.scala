package io.github.pulsarspark.storage.offload.format

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** One of the formats in which Pulsar's offloaders write ledgers. The methods that take a configuration may wait for
  * the storage as long as its client does. They fail with `MalformedBytes` or [[UnsupportedOffload]], or as the file
  * system does.
  */
private[offload] trait OffloadFormat extends Serializable {

  /** Value of the option `offload.format` for this format. */
  def name: String

  /** URI schemes of storage on which only this format is usual. */
  def schemes: Set[String]

  /** The offload drivers that write it, in lower case: for each one the URI of the copies, by the offload policies.
    * Left: what the policies lack.
    */
  def drivers: Map[String, OffloadPolicies => Either[String, String]]

  /** The file or folder that holds the entries of a ledger. */
  def data(ledger: OffloadedLedger): Path

  /** The entries `first` to `last`.
    *
    * @param bufferBytes
    *   how much to read at a time, apart from entries that are larger
    */
  def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      bufferBytes: Int,
      configuration: Configuration
  ): EntryBufferSource

  /** Reads the entries at which a read of the ledger may start; None if it may start at every entry. */
  def splitPoints: Option[(OffloadedLedger, Configuration) => Seq[Long]]
}
