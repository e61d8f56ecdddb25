package io.github.pulsarspark.policy

import io.github.pulsarspark.errors.{Conditions, PulsarError}

/** The error for something that the policy does not list. */
private[policy] object Refused {

  /** @param what
    *   the thing that the option asks for
    * @param key
    *   the setting that would list it, without its prefix
    */
  def apply(option: String, what: String, key: String): RuntimeException with PulsarError =
    Conditions.PolicyRefused(option = option, what = what, key = PolicyKeys.Prefix + key).exception
}
