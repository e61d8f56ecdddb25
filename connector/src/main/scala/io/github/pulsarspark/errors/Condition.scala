package io.github.pulsarspark.errors

/** A kind of error with a stable name. `Conditions` has one for each entry of `error-conditions.json`, the list that
  * the JVM, the Python package and the documentation share.
  *
  * @param sqlState
  *   the five characters that SQL clients read; Spark's own conditions show which
  * @param kind
  *   `input`: the user's input is wrong, found before a task runs. `runtime`: everything else.
  * @param message
  *   what is wrong, with `{parameters}`
  * @param action
  *   what to do, with `{parameters}`
  */
abstract class Condition private[errors] (
    val name: String,
    val sqlState: String,
    val kind: String,
    val message: String,
    val action: String
) extends Serializable {

  /** True if this is the condition of the error. */
  def is(error: Throwable): Boolean = error match {
    case e: PulsarError => e.condition == name
    case _              => false
  }
}
