package io.github.pulsarspark.format

/** Which transactions were aborted, of those whose outcome is decided. */
private[pulsarspark] trait TransactionView {

  /** Fails with [[UndecidedTransaction]] when that is unknown. */
  def isAborted(mostBits: Long, leastBits: Long): Boolean
}

private[pulsarspark] object TransactionView {

  /** For entries from which those of aborted transactions are removed already. */
  val NothingAborted: TransactionView = (_, _) => false
}

/** The outcome of a transaction is unknown here; the message says why. The reader falls back to the broker, which knows
  * it.
  */
private[pulsarspark] final class UndecidedTransaction(reason: String)
    extends RuntimeException(reason, null, false, false)
