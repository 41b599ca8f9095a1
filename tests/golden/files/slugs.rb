# Turns titles into parts of a URL.
module Slugs
  UMLAUTS = { "ä" => "ae", "ö" => "oe", "ü" => "ue", "ß" => "ss" }.freeze

  def self.slug(title)
    title.downcase.gsub(/[äöüß]/, UMLAUTS).gsub(/[^a-z0-9]+/, "-").gsub(/^-|-$/, "")
  end

  def self.unique(title, taken)
    base = slug(title)
    return base unless taken.include?(base)

    (2..).lazy.map { |n| "#{base}-#{n}" }.find { |name| !taken.include?(name) }
  end
end
