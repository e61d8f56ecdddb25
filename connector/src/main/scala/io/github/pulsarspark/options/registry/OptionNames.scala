package io.github.pulsarspark.options.registry

import io.github.pulsarspark.errors.{Conditions, PulsarError}

/** Checks of the names of options. */
private[registry] object OptionNames {

  /** The error for a name that is not in the table. It suggests the option of the same meaning, then one that is
    * spelled alike.
    */
  def unknown(key: String, known: Seq[String]): RuntimeException with PulsarError = {
    val near = OptionRegistry.namesElsewhere.get(key.toLowerCase).orElse(NearestName(key, known))
    Conditions.OptionUnknown(option = key, nearest = near.fold("")(n => s"; the nearest name is `$n`")).exception
  }

  /** Fails with `PULSAR_OPTION_WRONG_MODE` unless the option has a meaning in one of these scopes. */
  def checkScope(key: String, allowed: Seq[Scope], scopes: Seq[Scope]): Unit =
    if (!scopes.exists(_.accepts(allowed)))
      throw Conditions.OptionWrongMode(option = key, mode = scopes.map(_.words).mkString(" or "),
        allowed = allowed.map(_.words).mkString(", ")).exception
}
