package io.github.pulsarspark.storage.segment

/** Reports that a segment cannot be read where its metadata has it. Raised by stores; the reader of the slice refreshes
  * the metadata or falls back to the broker, so that it never leaves `storage`.
  *
  * @param problem
  *   ledger, entry and what is wrong
  * @param silent
  *   what did not respond and may not respond for other ledgers either, in the words of its store: ids of bookies, the
  *   URI of a storage. Empty when the entry itself is the problem.
  */
private[storage] final class SegmentUnreadable(problem: String, cause: Throwable, val silent: Seq[String] = Nil)
    extends RuntimeException(problem, cause) {

  /** True if the store did not respond, so that another attempt would wait again. */
  def isSilent: Boolean = silent.nonEmpty
}
